/** A sum beyond what a number can hold: refused where it would arise, and never shown as 0. */
import { FieldValue } from "firebase-admin/firestore";
import { counter, getCounter, getExactTotal, incrementCounter } from "firestore-tally";
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

test.each<Record<string, number>>([{ base: Number.POSITIVE_INFINITY }, { 1: 1e308, 2: 1e308 }])(
  "while shards of a server's own writes are %j, the last total stays and exact reads reject, until they are mended",
  async (counts) => {
    const shards = Object.keys(counts);
    const id = `sum:${shards}`;
    const ref = server.counter(admin, id);
    const own = counter(phone.db, id);
    const write = async (count: (shard: string) => unknown) => {
      const batch = admin.batch();
      for (const shard of shards) {
        const fields = { shard, count: count(shard), writes: FieldValue.increment(1) };
        batch.set(admin.doc(`counters/${id}/shards/${shard}`), fields, { merge: true });
      }
      await batch.commit();
    };
    await server.incrementCounter(ref, 7);
    await until(async () => (await readPublished(id))?.total === 7, "the first total");
    const before = (await readPublished(id))?.publishes ?? 0;
    await write((shard) => counts[shard]);
    await until(async () => ((await readPublished(id))?.publishes ?? 0) > before, "a publish");
    const overflow = { code: "counter/overflow" };
    await expect(getExactTotal(own)).rejects.toMatchObject(overflow);
    await expect(server.getExactTotal(ref)).rejects.toMatchObject(overflow);
    expect((await getCounter(own)).total).toBe(7);
    if (shards.length > 1) {
      // Nothing that a reset adds to `base` makes their sum finite.
      await expect(server.resetCounter(ref, 8)).rejects.toMatchObject(overflow);
      await write(() => 0);
    }
    await server.resetCounter(ref, 8);
    await until(async () => (await readPublished(id))?.total === 8, "the total after the reset");
    expect(await getExactTotal(own)).toBe(8);
  },
);
