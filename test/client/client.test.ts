/** The shards that the web client writes, and the removal of expired marks. */
import { writeBatch } from "firebase/firestore";
import { Timestamp } from "firebase-admin/firestore";
import { counter, getExactTotal, incrementCounter, incrementCounterIn } from "firestore-tally";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { planIncrement } from "../../core/src/index.ts";
import { admin, adminAt, type Client, client } from "../../testkit/clients.ts";
import { loadRules, OPEN_RULES, withPolicy } from "../../testkit/rules.ts";
import { readShards } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

test("increments use as many shards as the counter has", async () => {
  const id = "spread:wide";
  await admin.doc(`counters/${id}`).set({ total: 0, shardCount: 10, writes: 0, rate: 0, asOf: Timestamp.now() });
  const writer = client();
  const ref = counter(writer.db, id);
  const spread = new Set<number>();
  // Seconds later, shards are folded into `base`.
  const stop = admin.collection(`counters/${id}/shards`).onSnapshot(({ docs }) => {
    for (const shard of docs) if (shard.id !== "base") spread.add(Number(shard.id));
  });
  await Promise.all(Array.from({ length: 60 }, () => incrementCounter(ref)));
  await until(() => spread.size >= 8, "increments on 8 shards");
  stop();
  // On a busy machine some answers take more than a second, and then clients choose among more.
  const own = await readShards(id);
  const among = [...own].filter(([shard]) => shard === "base" || Number(shard) < 10);
  expect(among.reduce((sum, [, { count }]) => sum + count, 0)).toBeGreaterThan(30);
  // The emulator's reads may miss the commits of the last milliseconds.
  await until(async () => (await getExactTotal(ref)) === 60, "the sum");
  await writer.close();
});

describe("an increment in a transaction removes the expired slot", () => {
  const PROJECT = `demo-tally-marks-${process.pid}`;
  const { firestore, close } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string, PROJECT);
  let writer: Client;
  beforeAll(async () => {
    await loadRules(
      PROJECT,
      withPolicy(OPEN_RULES, "function mayReadCounter() { return counterGroup() != 'hidden'; }"),
    );
    writer = client(undefined, PROJECT);
  });
  afterAll(async () => {
    await writer.close();
    await close();
  });

  /** Creates shard 0 with each slot written so many seconds ago. @returns reads the names of its slots, and its count */
  async function marked(id: string, secondsAgo: number): Promise<() => Promise<[string[], number]>> {
    const shard = firestore.doc(`counters/${id}/shards/0`);
    const slot = { at: Timestamp.fromMillis(Date.now() - secondsAgo * 1_000), nonces: [Buffer.from("mark5")] };
    const marks = Object.fromEntries([..."01234"].map((name) => [name, slot]));
    await shard.set({ shard: "0", count: 1, writes: 1, at: Timestamp.now(), marks });
    return async () => {
      const { marks, count } = (await shard.get()).data() as { marks: object; count: number };
      return [Object.keys(marks), count];
    };
  }
  const slotAt = (now: number) => Number(planIncrement("c/x", "0", 1, now, Math.random).slot);

  test.each(["views:marks", "hidden:marks"])("of %s, whether or not the client may read it", async (id) => {
    const state = await marked(id, 300);
    const before = slotAt(Date.now());
    await incrementCounter(counter(writer.db, id));
    await until(async () => (await state())[1] === 2, "the increment");
    const [left] = await state();
    const removed = [..."01234"].filter((name) => !left.includes(name));
    // A minute may end meanwhile.
    const expected = [before, slotAt(Date.now())].map((slot) => `${(slot + 1) % 5}`);
    expect(removed).toEqual([expect.toBeOneOf(expected)]);
  });

  test("and counts once without the removal if a clock is wrong, and removes none from then on", async () => {
    const id = "hidden:wrong";
    const state = await marked(id, 60);
    const ref = counter(writer.db, id);
    for (let n = 2; n <= 4; n++) {
      await incrementCounter(ref);
      await until(async () => (await state())[1] === n, "the increment");
    }
    expect((await state())[0]).toHaveLength(5);
    await marked(id, 300);
    await incrementCounter(ref);
    await until(async () => (await state())[1] === 2, "the increment");
    expect((await state())[0]).toHaveLength(5);
  });

  test("but not in a batch of the app, which may be sent hours later", async () => {
    const id = "views:batch";
    const state = await marked(id, 300);
    const batch = writeBatch(writer.db);
    incrementCounterIn(batch, counter(writer.db, id));
    await batch.commit();
    await until(async () => (await state())[1] === 2, "the increment");
    expect((await state())[0]).toHaveLength(5);
  });
});
