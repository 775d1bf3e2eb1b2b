/** A server's code may have written anything into a counter document. Then clients count, show what they can, and do not end the app. */
import { setTimeout as sleep } from "node:timers/promises";
import { counter, getCounter, incrementCounter, onCounter } from "firestore-tally";
import { expect, onTestFinished, test } from "vitest";
import { admin, client } from "../../testkit/clients.ts";

const WRONG: Readonly<Record<string, object>> = {
  "every published field": { total: "seven", asOf: 5, shardCount: "many", growing: 3, rate: "fast", version: {} },
  "direct, a text": { direct: "open" },
  "marks, a text": { direct: { open: true, generation: "one", marks: "none" } },
  "a slot without nonces": { direct: { open: true, generation: 0, marks: { 0: { at: 5 }, 7: { at: "now" } } } },
  "a slot, a number": { direct: { open: true, generation: 0, marks: { 0: 5, 1: null } } },
};

test.each(Object.entries(WRONG))("with the wrong type of %s, increments and watches work", async (name, wrong) => {
  const id = `wrong:${name.replaceAll(/\W/g, "")}`;
  await admin.doc(`counters/${id}`).set({ total: 3, ...wrong });
  const one = client();
  onTestFinished(() => one.close());
  const shown: number[] = [];
  const stop = onCounter(counter(one.db, id), ({ total }) => shown.push(total));
  await sleep(500);
  await incrementCounter(counter(one.db, id));
  await getCounter(counter(one.db, id));
  // An error in a listener fails the test as an uncaught one.
  await sleep(500);
  stop();
  expect(shown.length).toBeGreaterThan(0);
});
