/** A server that calls a rate limiter, as `rateLimiterLoad.ts` orders, and counts its commits. */
import { setTimeout as sleep } from "node:timers/promises";
import { initializeApp } from "firebase-admin/app";
import { DocumentReference, getFirestore, type WriteResult } from "firebase-admin/firestore";
import { rateLimiter } from "firestore-tally/admin";
import { type Call, now, type Order, type Outcome } from "./rateLimiterLoad.ts";

const db = getFirestore(initializeApp({ projectId: process.env.GCLOUD_PROJECT as string }));

let commits = 0;
for (const write of ["create", "update"] as const) {
  const original = DocumentReference.prototype[write] as (...args: unknown[]) => Promise<WriteResult>;
  DocumentReference.prototype[write] = async function (this: DocumentReference, ...args: unknown[]) {
    const result = await original.apply(this, args);
    commits++;
    return result;
  };
}

process.on("message", async ({ key, options, perSecond, from, until }: Order) => {
  commits = 0;
  const limiter = rateLimiter(db, "load", options);
  const calls: Call[] = [];
  const pending: Promise<void>[] = [];
  const interval = () => (Math.log(1 / (1 - Math.random())) * 1_000) / perSecond;
  for (let due = from; due < until; due += interval()) {
    if (due > now()) await sleep(due - now());
    const start = now();
    const call = limiter.take(key).then((answer) => {
      calls.push([start, now(), answer.allowed ? 0 : answer.retryAfter]);
    });
    pending.push(call);
  }
  await Promise.all(pending);
  process.send?.({ calls, commits } satisfies Outcome);
});
// Connects.
await db.doc("tallyServerLimits/load").get();
process.send?.("ready");
