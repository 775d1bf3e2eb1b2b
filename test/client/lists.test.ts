/** Reads of several counters in one call: on the web and on a server, online and offline. */
import { type CounterRef, counter, getCounters, getTopCounters, onCounter } from "firestore-tally";
import * as server from "firestore-tally/admin";
import { afterEach, beforeAll, expect, test } from "vitest";
import { admin, type Client, client } from "../../testkit/clients.ts";
import { startMeter } from "../../testkit/meter.ts";
import { goOffline, goOnline } from "../../testkit/offline.ts";
import { until } from "../../testkit/until.ts";

const totals = Array.from({ length: 50 }, (_, n) => 2 * n);
const ids = totals.map((total) => `listed:${total}`);

const open: Client[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

function newClient(host?: string): Client {
  const one = client(host);
  open.push(one);
  return one;
}

beforeAll(async () => {
  const batch = admin.batch();
  for (const total of totals) {
    batch.set(admin.doc(`counters/listed:${total}`), { group: "listed", total, asOf: new Date() });
  }
  await batch.commit();
});

test("getCounters returns the totals in the order of the references, for 1 read each", async () => {
  const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  const { db } = newClient(meter.address);
  const shuffled = ids.toSorted((one, other) => one.localeCompare(other));
  const found = await getCounters(shuffled.map((id) => counter(db, id)));
  expect(found.map(({ total }) => `listed:${total}`)).toEqual(shuffled);
  expect(found.every(({ fromCache }) => !fromCache)).toBe(true);
  expect(meter.usage.reads).toBe(50);
  meter.close();
});

test.each([
  ["the web", getCounters, (id: string) => counter(newClient().db, id)],
  [
    "a server",
    server.getCounters as unknown as typeof getCounters,
    (id: string) => server.counter(admin, id) as unknown as CounterRef,
  ],
])(
  "on %s, a counter without increments has 0, one may be named twice, and no reference gives no total",
  async (_, read, of) => {
    const found = await read(["listed:4", "listed:none", "listed:4"].map(of));
    expect(found.map(({ total, asOf }) => [total, asOf !== null])).toEqual([
      [4, true],
      [0, false],
      [4, true],
    ]);
    expect(await read([])).toEqual([]);
  },
);

test("offline, getCounters and getTopCounters reject with unavailable, unless the cache can tell", async () => {
  const { db } = newClient();
  const [refs, unavailable] = [ids.map((id) => counter(db, id)), { code: "unavailable" }];
  await goOffline(db);
  await expect(getCounters(refs)).rejects.toMatchObject(unavailable);
  await expect(getTopCounters(db, "listed")).rejects.toMatchObject(unavailable);
  await goOnline(db);
  expect(await getTopCounters(db, "listed-none")).toEqual([]);
  // What is watched stays in the cache.
  let watched = -1;
  const stop = onCounter(counter(db, "listed:98"), ({ total }) => {
    watched = total;
  });
  await until(() => watched === 98, "the watch");
  await goOffline(db);
  const [best] = await getTopCounters(db, "listed");
  expect(best).toMatchObject({ id: "listed:98", total: 98, fromCache: true });
  await goOnline(db);
  stop();
});
