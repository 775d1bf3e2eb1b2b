/** Several clients on a new counter. `npm run bench -- --only crowd` does the same with many, and freshly started emulators. */
import { setTimeout as sleep } from "node:timers/promises";
import { counter, incrementCounter, onCounter } from "firestore-tally";
import { expect, onTestFinished, test, vi } from "vitest";
import { admin, client, signIn } from "../../testkit/clients.ts";
import { governor } from "../../testkit/governor.ts";
import { startProxy } from "../../testkit/grpcProxy.ts";
import { readShards, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const firestoreHost = process.env.FIRESTORE_EMULATOR_HOST as string;

test("after a slow commit a client chooses among more shards, though the SDK holds its read back meanwhile", async () => {
  const id = "crowd:slow";
  const now = performance.now.bind(performance);
  let passed = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now() + passed);
  onTestFinished(() => void vi.restoreAllMocks());
  let commits = 0;
  const answer = Promise.withResolvers<void>();
  const request = () => (commits++ === 0 ? answer.promise : undefined);
  const proxy = await startProxy(firestoreHost, [(method) => (method === "Commit" ? { request } : undefined)]);
  const slow = client(proxy.address);
  const first = incrementCounter(counter(slow.db, id));
  await until(() => commits === 1, "the first commit");
  passed = 2_500;
  const others = [1, 2].map(() => incrementCounter(counter(slow.db, id)));
  // Their read reaches the SDK meanwhile.
  await sleep(50);
  answer.resolve();
  await Promise.all([first, ...others]);
  expect(commits).toBe(3);
  // The read is timed from when it is sent. So it proves that the commit was slow: they choose among 64 shards.
  expect((await readShards(id)).size).toBeGreaterThan(1);
  expect(await sumOfIncrements(id)).toBe(3);
  await slow.close();
  proxy.close();
});

test.concurrent("an increment of a watched counter that is refused as contended moves to another shard", async () => {
  const id = "crowd:watched";
  const { governed, inspection } = governor({ perSecond: 0.02, burst: 1, longestWait: 0 });
  const proxy = await startProxy(firestoreHost, [inspection]);
  const clients = Array.from({ length: 4 }, () => client(proxy.address));
  const shown = clients.map(() => 0);
  const stops = clients.map(({ db }, n) => onCounter(counter(db, id), ({ total }) => (shown[n] = total)));
  let count = 0;
  // On a busy machine, slow answers alone may spread the first ones.
  for (let round = 0; governed.aborted === 0 && round < 50; round++) {
    await Promise.all(clients.map(({ db }) => incrementCounter(counter(db, id))));
    count += clients.length;
  }
  expect(governed.aborted).toBeGreaterThan(0);
  expect((await readShards(id)).size).toBeGreaterThan(1);
  expect(await sumOfIncrements(id)).toBe(count);
  await until(() => shown.every((total) => total === count), "the total in each watch");
  for (const stop of stops) stop();
  await Promise.all(clients.map((one) => one.close()));
  proxy.close();
});

test.concurrent("likes that wait for the shard of a new counter move to other shards: each counts once", async () => {
  const id = "likes:crowd";
  const { inspection } = governor({ perSecond: 0.02, burst: 1, longestWait: 0 });
  const proxy = await startProxy(firestoreHost, [inspection]);
  const clients = Array.from({ length: 4 }, () => client(proxy.address));
  const uids = await Promise.all(clients.map((one) => signIn(one)));
  await Promise.all(clients.map(({ db }, n) => incrementCounter(counter(db, id), 1, { once: uids[n] as string })));
  expect((await readShards(id)).size).toBeGreaterThan(1);
  expect(await sumOfIncrements(id)).toBe(4);
  const entries = await admin.collection(`counters/${id}/tallyEntries`).listDocuments();
  expect(entries.map(({ id }) => id)).toEqual(uids.sort());
  for (const one of clients) await one.close();
  proxy.close();
});
