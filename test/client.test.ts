/** The web client: offline, and on which shards it writes. */
import { disableNetwork, enableNetwork } from "firebase/firestore";
import { Timestamp } from "firebase-admin/firestore";
import { counter, getExactCounter, incrementCounter, onCounter } from "firestore-tally";
import { expect, test } from "vitest";
import { admin, client } from "./support/app.ts";
import { sumOfShards, until } from "./support/suite.ts";

test("increments made offline are kept, hang nothing, and arrive once, later", async () => {
  const id = "offline:phone";
  const phone = client();
  const ref = counter(phone.db, id);
  await disableNetwork(phone.db);
  let acknowledged = 0;
  const writes = Promise.all(Array.from({ length: 5 }, () => incrementCounter(ref).then(() => acknowledged++)));
  const watched: boolean[] = [];
  const stop = onCounter(ref, ({ fromCache }) => watched.push(fromCache));
  await until(() => watched.length > 0, "the watch to answer from the cache");
  expect(watched).toEqual([true]);
  expect(acknowledged).toBe(0);
  expect(await sumOfShards(id)).toBe(0);

  await enableNetwork(phone.db);
  await writes;
  expect(acknowledged).toBe(5);
  expect(await sumOfShards(id)).toBe(5);
  stop();
  await phone.close();
});

test("increments spread over as many shards as the counter has", async () => {
  const id = "spread:wide";
  await admin.doc(`counters/${id}`).set({ total: 0, shardCount: 40, writes: 0, rate: 0, asOf: Timestamp.now() });
  const writer = client();
  const ref = counter(writer.db, id);
  await Promise.all(Array.from({ length: 200 }, () => incrementCounter(ref)));
  const spread = (await admin.collection(`counters/${id}/shards`).get()).docs.map((shard) => Number(shard.id));
  expect(spread.length).toBeGreaterThanOrEqual(30);
  expect(Math.max(...spread)).toBeLessThan(40);
  expect(await getExactCounter(ref)).toBe(200);
  await writer.close();
});
