/** A page of an old app: the web client of Google's counter extension, and what a test does with it. */
import firebase from "firebase/compat/app";
import "firebase/compat/firestore";
import { Counter } from "../firestore-counter/clients/web/src/index.ts";
import type { OldApp } from "../oldApp.ts";

firebase.initializeApp({ projectId: process.env.GCLOUD_PROJECT as string, apiKey: "any" });
const db = firebase.firestore();
const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST as string).split(":");
// biome-ignore lint/correctness/useHookAtTopLevel: it is no hook of React
db.useEmulator(host, Number(port));

const app: OldApp = {
  async increment(increments, every) {
    const counters = new Map<string, Counter>();
    const writes: Promise<void>[] = [];
    for (const { document, field, by } of increments) {
      const name = `${document}.${field}`;
      const counter = counters.get(name) ?? new Counter(db.doc(document), field);
      counters.set(name, counter);
      writes.push(counter.incrementBy(by));
      await new Promise((resolve) => setTimeout(resolve, every));
    }
    await Promise.all(writes);
  },

  async watchAndIncrement(document, field, times, every) {
    const counter = new Counter(db.doc(document), field);
    const values: number[] = [];
    counter.onSnapshot((snapshot) => values.push(snapshot.data()));
    for (let n = 0; n < times; n++) {
      await counter.incrementBy(1);
      await new Promise((resolve) => setTimeout(resolve, every));
    }
    return values;
  },
};

Object.assign(window, { app });
