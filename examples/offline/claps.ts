/** Claps that work offline. */
import { counter, incrementCounter, onCounter } from "firestore-tally";
import { db } from "./persistent.ts";

export function clap(talk: string, failed: (error: unknown) => void) {
  // Not awaited: offline, the promise resolves only when the device is back online.
  incrementCounter(counter(db, `claps:${talk}`)).catch(failed);
}

export function showClaps(talk: string, show: (text: string) => void) {
  return onCounter(counter(db, `claps:${talk}`), ({ total, pending, fromCache }) => {
    show(`${total}${pending ? ", sending" : ""}${fromCache ? ", offline" : ""}`);
  });
}
