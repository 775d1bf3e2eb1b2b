/** The sale of the page's last tickets: opens it, and restocks it when it is sold out. */
import { counter, ensureCounter, getCounter, incrementCounter } from "firestore-tally/admin";
import { admin } from "../testkit/clients.ts";
import { TICKETS } from "../web/src/traffic/demoCounters.ts";

const UNITS = 100;
/** A sale stays sold out for so long at least. */
const LOOK_EVERY_MS = 10_000;

/** @returns a function that ends it */
export async function openTicketSale(): Promise<() => void> {
  const tickets = counter(admin, TICKETS);
  await ensureCounter(tickets, { initial: UNITS, bounded: true });
  let wasSoldOut = false;
  const look = async () => {
    const { total, asOf } = await getCounter(tickets);
    const isSoldOut = asOf !== null && total === 0;
    if (isSoldOut && wasSoldOut) await incrementCounter(tickets, UNITS);
    wasSoldOut = isSoldOut && !wasSoldOut;
  };
  const timer = setInterval(() => look().catch(console.error), LOOK_EVERY_MS);
  return () => clearInterval(timer);
}
