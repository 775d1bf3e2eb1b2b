/** A sum beyond what a number can hold: refused where it would arise, and never shown as 0. */
import { FieldValue } from "firebase-admin/firestore";
import { counter, getCounter, getExactCounter, incrementCounter } from "firestore-tally";
import * as server from "firestore-tally/admin";
import { afterAll, expect, test } from "vitest";
import { admin, client } from "../../testkit/clients.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const phone = client();
afterAll(() => phone.close());

test("web and server refuse amounts and totals beyond ±2^53 before any I/O", async () => {
  const refused = { code: "counter/invalid-amount" };
  await expect(incrementCounter(counter(phone.db, "sum:amount"), 1e308)).rejects.toMatchObject(refused);
  const ref = server.counter(admin, "sum:amount");
  await expect(server.incrementCounter(ref, 1e308)).rejects.toMatchObject(refused);
  await expect(server.resetCounter(ref, 1e308)).rejects.toMatchObject(refused);
  await expect(server.ensureCounter(ref, { initial: -1e308 })).rejects.toMatchObject(refused);
});

test.each([
  ["in one shard", ["base", "base"]],
  ["of two shards", ["base", "0"]],
])(
  "while a sum is infinite, %s, the last total stays, exact reads reject, and a reset repairs it",
  async (name, shards) => {
    const id = `sum:${shards.join("-")}`;
    const ref = server.counter(admin, id);
    const own = counter(phone.db, id);
    await server.incrementCounter(ref, 7);
    await until(async () => (await readPublished(id))?.total === 7, `the first total ${name}`);
    const before = (await readPublished(id))?.publishes ?? 0;
    for (const shard of shards) {
      const path = `counters/${id}/shards/${shard}`;
      await admin
        .doc(path)
        .set({ shard, count: FieldValue.increment(1e308), writes: FieldValue.increment(1) }, { merge: true });
    }
    await until(async () => ((await readPublished(id))?.publishes ?? 0) > before, "a publish");
    const overflow = { code: "counter/overflow" };
    await expect(getExactCounter(own)).rejects.toMatchObject(overflow);
    await expect(server.getExactCounter(ref)).rejects.toMatchObject(overflow);
    expect((await getCounter(own)).total).toBe(7);
    await server.resetCounter(ref, 8);
    await until(async () => (await readPublished(id))?.total === 8, "the total after the reset");
    expect(await getExactCounter(own)).toBe(8);
  },
);
