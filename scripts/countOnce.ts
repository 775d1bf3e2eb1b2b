/** Counts on the emulator: 25 increments of shards, as clients make them, and waits until the functions have published the total. */
import { initializeApp } from "firebase-admin/app";
import { FieldValue, getFirestore } from "firebase-admin/firestore";
import { counter, incrementCounter } from "../admin/src/index.ts";

initializeApp({ projectId: process.env.GCLOUD_PROJECT ?? "demo-tally" });
const firestore = getFirestore();
const shares = counter(firestore, "shares:1");
await Promise.all(Array.from({ length: 25 }, () => incrementCounter(shares)));
const shard = firestore.doc("counters/shares:1/shards/0");
await shard.set({ shard: "0", count: FieldValue.increment(0), writes: FieldValue.increment(1) }, { merge: true });
const published = new Promise<number>((resolve, reject) => {
  const timeout = setTimeout(() => reject(new Error("no total after 60 s")), 60_000);
  firestore.doc("counters/shares:1").onSnapshot((document) => {
    if (document.get("total") !== 25 || document.get("asOf") === undefined) return;
    clearTimeout(timeout);
    resolve(25);
  }, reject);
});
console.log(`The total is ${await published}.`);
process.exit();
