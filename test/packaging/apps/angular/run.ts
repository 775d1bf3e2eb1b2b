/** Follows a counter with the signal of `examples/angular`, and ends its injection context. */
import "@angular/compiler";
import { createEnvironmentInjector, type EnvironmentInjector, runInInjectionContext } from "@angular/core";
import { initializeApp } from "firebase/app";
import { connectFirestoreEmulator, getFirestore } from "firebase/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { counterSignal } from "./counterSignal.ts";

const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST ?? "").split(":");
const db = getFirestore(initializeApp({ projectId: process.env.GCLOUD_PROJECT ?? "", apiKey: "any" }));
connectFirestoreEmulator(db, host, Number(port));
const views = counter(db, "compatibility:angular");
const injector = createEnvironmentInjector([], null as unknown as EnvironmentInjector);
const state = runInInjectionContext(injector, () => counterSignal(views));

const totals: (number | undefined)[] = [state().total];
await incrementCounter(views);
while (state().total !== 1) await new Promise((resolve) => setTimeout(resolve, 20));
totals.push(state().total);
injector.destroy();
await incrementCounter(views);
await new Promise((resolve) => setTimeout(resolve, 1_500));
totals.push(state().total);
console.log(JSON.stringify(totals));
process.exit();
