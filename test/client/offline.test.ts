/** A device that is offline for an hour: its queue is no contention, so it writes to the shards that the counter has. */
import { status } from "@grpc/grpc-js";
import { expect, test, vi } from "vitest";
import { type Counter, counter } from "../../client/src/web/counter.ts";
import { incrementCounter } from "../../client/src/web/index.ts";
import { client } from "../../testkit/clients.ts";
import { Refused, startProxy } from "../../testkit/grpcProxy.ts";
import { goOffline, goOnline } from "../../testkit/offline.ts";
import { readPublished, readShards, sumOfIncrements } from "../../testkit/storedCounter.ts";

/** Ten increments within ten seconds, the others within an hour. */
const GAPS_MS = Array.from({ length: 100 }, (_, n) => (n < 10 ? 1_000 : 36_000));

test("100 increments of a client that is offline go to the only shard of the counter, and count when it is online", async () => {
  const id = "offline:hour";
  let isCut = false;
  const request = () => {
    if (isCut) throw new Refused(status.UNAVAILABLE, "the test has cut the network");
  };
  const proxy = await startProxy(process.env.FIRESTORE_EMULATOR_HOST as string, [() => ({ request })]);
  const device = client(proxy.address);
  const ref = counter(device.db, id) as Counter;
  for (let n = 0; n < 2; n++) await incrementCounter(ref);
  expect(await readPublished(id)).toMatchObject({ total: 2, direct: { open: true } });

  const now = performance.now.bind(performance);
  let offlineFor = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + offlineFor);
  try {
    isCut = true;
    await goOffline(device.db);
    const calls: Promise<void>[] = [];
    for (const gap of GAPS_MS) {
      offlineFor += gap;
      calls.push(incrementCounter(ref));
      // Each read fails before the next increment.
      await ref._reading;
    }
    expect(await sumOfIncrements(id)).toBe(2);
    isCut = false;
    await goOnline(device.db);
    await Promise.all(calls);
  } finally {
    clock.mockRestore();
    vi.unstubAllGlobals();
  }
  expect([...(await readShards(id))].map(([shard, { count }]) => [shard, count])).toEqual([["0", 100]]);
  await device.close();
  proxy.close();
});
