/** Counts on the emulator: 25 increments of a server, and a write of a shard, until the functions have published the sum. */
import { initializeApp } from "firebase-admin/app";
import { FieldValue, getFirestore } from "firebase-admin/firestore";
import { counter, incrementCounter } from "../../../admin/src/index.ts";
import { until } from "../../../testkit/until.ts";

initializeApp({ projectId: process.env.GCLOUD_PROJECT ?? "demo-tally" });
const firestore = getFirestore();
await Promise.all(Array.from({ length: 25 }, () => incrementCounter(counter(firestore, "shares:1"))));
const shard = firestore.doc("counters/shares:1/shards/0");
await shard.set({ shard: "0", count: FieldValue.increment(0), writes: FieldValue.increment(1) }, { merge: true });
await until(async () => {
  const document = await firestore.doc("counters/shares:1").get();
  return document.get("total") === 25 && document.get("asOf") !== undefined;
}, "the total of 25");
process.exit();
