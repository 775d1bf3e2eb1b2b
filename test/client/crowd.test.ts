/** Many clients on a new counter. `npm run bench -- --only crowd` does the same with more clients and freshly started emulators. */
import { setTimeout as sleep } from "node:timers/promises";
import { counter, incrementCounter, onCounter } from "firestore-tally";
import { expect, test } from "vitest";
import { admin, client, signIn } from "../../testkit/clients.ts";
import { governor } from "../../testkit/governor.ts";
import { startProxy } from "../../testkit/grpcProxy.ts";
import { readPublished, readShards, sumOfShards } from "../../testkit/storedCounter.ts";
import { incrementSteadily } from "../../testkit/traffic.ts";
import { until } from "../../testkit/until.ts";

const CLIENTS = 60;
const PER_SECOND = 60;
const SECONDS = 4;

test("60 new clients with 60 increments a second on a new counter: each counts once, within seconds", async () => {
  const id = "crowd:new";
  const clients = Array.from({ length: CLIENTS }, () => client());
  const start = performance.now();
  const { acknowledged, lastAt } = await incrementSteadily(clients, id, PER_SECOND, SECONDS);
  expect(acknowledged).toBe(PER_SECOND * SECONDS);
  expect(lastAt - start).toBeLessThan(20_000);
  expect(await sumOfShards(id)).toBe(acknowledged);
  await until(async () => (await readPublished(id))?.total === acknowledged, "the total");
  // Clients use more shards only under contention, so a fast machine has few shard documents; the bench counts them.
  expect((await readPublished(id))?.shardCount).toBeGreaterThanOrEqual(PER_SECOND / 2);
  await Promise.all(clients.map((one) => one.close()));
});

test("an increment that the SDK holds back behind a slow commit chooses its shard when it is sent", async () => {
  const id = "crowd:slow";
  let commits = 0;
  const request = () => (commits++ === 0 ? sleep(2_500) : undefined);
  const proxy = await startProxy(process.env.FIRESTORE_EMULATOR_HOST as string, [
    (method) => (method === "Commit" ? { request } : undefined),
  ]);
  const slow = client(proxy.address);
  const first = incrementCounter(counter(slow.db, id));
  await until(async () => commits === 1, "the first commit");
  await Promise.all([first, incrementCounter(counter(slow.db, id)), incrementCounter(counter(slow.db, id))]);
  expect(commits).toBe(3);
  // By then, two seconds without an answer have told the client of contention: it chooses among 128 shards.
  expect((await readShards(id)).size).toBeGreaterThan(1);
  expect(await sumOfShards(id)).toBe(3);
  await slow.close();
  proxy.close();
});

test("an increment of a watched counter that is refused as contended moves to another shard", async () => {
  const id = "crowd:watched";
  const { governed, inspection } = governor({ perSecond: 0.2, burst: 1, longestWait: 0 });
  const proxy = await startProxy(process.env.FIRESTORE_EMULATOR_HOST as string, [inspection]);
  const clients = Array.from({ length: 4 }, () => client(proxy.address));
  const shown = clients.map(() => 0);
  const stops = clients.map(({ db }, n) => onCounter(counter(db, id), ({ total }) => (shown[n] = total)));
  await Promise.all(clients.map(({ db }) => incrementCounter(counter(db, id))));
  expect(governed.aborted).toBeGreaterThan(0);
  expect((await readShards(id)).size).toBeGreaterThan(1);
  expect(await sumOfShards(id)).toBe(4);
  await until(() => shown.every((total) => total === 4), "the total in each watch");
  for (const stop of stops) stop();
  await Promise.all(clients.map((one) => one.close()));
  proxy.close();
});

test("likes that wait for the shard of a new counter move to other shards: each counts once", async () => {
  const id = "likes:crowd";
  const { inspection } = governor({ perSecond: 0.1, burst: 1, longestWait: 0 });
  const proxy = await startProxy(process.env.FIRESTORE_EMULATOR_HOST as string, [inspection]);
  const clients = Array.from({ length: 6 }, () => client(proxy.address));
  const uids = await Promise.all(clients.map(signIn));
  const start = performance.now();
  await Promise.all(clients.map(({ db }, n) => incrementCounter(counter(db, id), 1, { key: uids[n] })));
  // Shard 0 alone would take a minute.
  expect(performance.now() - start).toBeLessThan(20_000);
  expect((await readShards(id)).size).toBeGreaterThan(1);
  expect(await sumOfShards(id)).toBe(6);
  const entries = await admin.collection(`counters/${id}/entries`).listDocuments();
  expect(entries.map(({ id }) => id)).toEqual(uids.sort());
  for (const one of clients) await one.close();
  proxy.close();
});
