/** The web client offline, the shards it writes, and the removal of old marks. */
import { writeBatch } from "firebase/firestore";
import { Timestamp } from "firebase-admin/firestore";
import { counter, getExactTotal, incrementCounter, incrementCounterIn, onCounter } from "firestore-tally";
import { afterEach, describe, expect, test, vi } from "vitest";
import { admin, client } from "../../testkit/clients.ts";
import { goOffline, goOnline } from "../../testkit/offline.ts";
import { sumOfShards } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

test("increments made offline do not block others, and count once when the client is online again", async () => {
  const id = "offline:phone";
  const phone = client();
  const ref = counter(phone.db, id);
  await goOffline(phone.db);
  let acknowledged = 0;
  const writes = Promise.all(Array.from({ length: 5 }, () => incrementCounter(ref).then(() => acknowledged++)));
  const watched: boolean[] = [];
  const stop = onCounter(ref, ({ fromCache }) => watched.push(fromCache));
  await until(() => watched.length > 0, "the watch to answer from the cache");
  expect(watched).toEqual([true]);
  expect(acknowledged).toBe(0);
  expect(await sumOfShards(id)).toBe(0);

  await goOnline(phone.db);
  await writes;
  expect(acknowledged).toBe(5);
  expect(await sumOfShards(id)).toBe(5);
  stop();
  await phone.close();
});

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
  expect(Math.max(...spread)).toBeLessThan(10);
  // The emulator's reads may miss the commits of the last milliseconds.
  await until(async () => (await getExactTotal(ref)) === 60, "the sum");
  await writer.close();
});

describe("one increment in 128 removes old marks", () => {
  afterEach(() => vi.restoreAllMocks());
  /** Creates shard 0 with an expired window and a current one. @returns reads its windows */
  async function marked(id: string): Promise<() => Promise<string[]>> {
    const shard = admin.doc(`counters/${id}/shards/0`);
    const now = Timestamp.now();
    const window = (secondsAgo: number) => ({
      at: Timestamp.fromMillis(now.toMillis() - secondsAgo * 1_000),
      nonces: [Buffer.from("mark")],
    });
    const young = `${(Math.floor(now.toMillis() / 15_000) - 1) & 15}`;
    const marks = { [Number(young).toString(16)]: window(20), x: window(200) };
    await shard.set({ shard: "0", count: 1, writes: 1, at: now, marks });
    return async () => Object.keys((await shard.get()).get("marks")).filter((name) => name === "x");
  }
  const isThatOne = () => vi.spyOn(Math, "random").mockReturnValue(0);

  test("if it is committed, and if it is refused", async () => {
    const writer = client();
    for (const by of [1, 2]) {
      const id = `marks:by${by}`;
      const old = await marked(id);
      isThatOne();
      await incrementCounter(counter(writer.db, id), by).catch(() => undefined);
      await until(async () => (await old()).length === 0, "the old window to be removed");
      vi.restoreAllMocks();
    }
    await writer.close();
  });

  test("if it is in a batch of the app", async () => {
    const writer = client();
    const old = await marked("marks:batch");
    isThatOne();
    incrementCounterIn(writeBatch(writer.db), counter(writer.db, "marks:batch"));
    await until(async () => (await old()).length === 0, "the old window to be removed");
    await writer.close();
  });
});
