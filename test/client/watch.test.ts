/** Watches of the web client: each own increment shows at once and exactly once. */
import { setTimeout as sleep } from "node:timers/promises";
import { disableNetwork, doc, enableNetwork, getDoc, setLogLevel, terminate } from "firebase/firestore";
import {
  bufferedCounter,
  type CounterSnapshot,
  counter,
  incrementCounter,
  onCounter,
  onIncremented,
} from "firestore-tally";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ensureCounter, counter as serverCounter } from "../../admin/src/index.ts";
import { MAX_PUBLISH_DELAY_MS } from "../../core/src/index.ts";
import { admin, type Client, client, signIn } from "../../testkit/clients.ts";
import { startMeter } from "../../testkit/meter.ts";
import { goOffline, goOnline } from "../../testkit/offline.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

const firestoreHost = process.env.FIRESTORE_EMULATOR_HOST as string;
const open: Client[] = [];

function newClient(host?: string): Client {
  const one = client(host);
  open.push(one);
  return one;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** Watches a counter and records every snapshot. Resolves after the first one from the server. */
async function watching(db: Client["db"], id: string, optimistic = true) {
  const seen: CounterSnapshot[] = [];
  const stop = onCounter(counter(db, id), (snapshot) => seen.push(snapshot), { optimistic });
  await until(() => seen.at(-1)?.fromCache === false, "the first snapshot");
  const last = () => seen.at(-1) as CounterSnapshot;
  /** The emulator's watches sometimes miss a change, unlike production's. A new connection makes up for it. */
  const sees = async (condition: (last: CounterSnapshot) => boolean, what: string) => {
    for (let tries = 0; ; tries++) {
      try {
        return await until(() => condition(last()), what, 8_000);
      } catch (error) {
        if (tries === 7) throw error;
        await disableNetwork(db);
        await enableNetwork(db);
      }
    }
  };
  return { seen, stop, totals: () => seen.map(({ total }) => total), last, sees };
}

test("seconds after the last watch has ended, an increment is committed as if there had been none", {
  tags: "deep",
}, async () => {
  const meter = await startMeter(firestoreHost);
  const { db } = newClient(meter.address);
  const ref = counter(db, "views:left");
  // With more than one shard, it is never open: all increments go to shards.
  await ensureCounter(serverCounter(admin, ref.id), { shards: 2 });
  const { stop } = await watching(db, ref.id);
  const commits = () => meter.calls.get("Commit") ?? 0;
  // A counter is calm from its second total on.
  for (const n of [1, 2]) {
    await incrementCounter(ref);
    await until(async () => (await readPublished(ref.id))?.total === n, "the total");
  }
  await until(async () => (await getDoc(doc(db, ref.path))).get("growing") === false, "a calm counter");
  const before = commits();
  // One in twenty removes expired marks, in a transaction.
  const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
  await incrementCounter(ref);
  random.mockRestore();
  // By the queue.
  expect(commits()).toBe(before);
  stop();
  await sleep(MAX_PUBLISH_DELAY_MS + 1_000);
  const { reads } = meter.usage;
  await incrementCounter(ref);
  expect([commits(), meter.usage.reads]).toEqual([before + 1, reads]);
  meter.close();
});

test("terminate ends the watches of a client without an error in the console", { tags: "deep" }, async () => {
  const one = newClient();
  const { db } = one;
  const uid = await signIn(one);
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const uncaught = vi.fn();
  process.on("unhandledRejection", uncaught);
  // Of the SDK, too.
  setLogLevel("error");
  try {
    const ref = counter(db, "views:terminated");
    const stops = [onIncremented(ref, uid, () => {})];
    stops.push((await watching(db, "views:terminated")).stop);
    await incrementCounter(ref);
    await terminate(db);
    await sleep(100);
    for (const stop of stops) stop();
    await sleep(MAX_PUBLISH_DELAY_MS + 500);
    expect(logged.mock.calls).toEqual([]);
    expect(uncaught.mock.calls).toEqual([]);
  } finally {
    setLogLevel("silent");
    process.off("unhandledRejection", uncaught);
    logged.mockRestore();
  }
});

describe("own increments in a watch", () => {
  test("show at once, before the server has them; with optimistic: false, when the server has them", async () => {
    const { db } = newClient();
    const ref = counter(db, "watch:once");
    const { seen, last, sees } = await watching(db, "watch:once");
    const patient = await watching(db, "watch:once", false);
    await goOffline(db);
    const written = incrementCounter(ref);
    await until(() => last().total === 1, "the increment");
    expect(last().pending).toBe(true);
    expect(await sumOfIncrements("watch:once")).toBe(0);
    expect(patient.last()).toMatchObject({ total: 0, pending: true });
    await goOnline(db);
    await written;
    await sees(({ total, pending }) => total === 1 && !pending, "the acknowledgement");
    await patient.sees(({ total }) => total === 1, "the document");
    expect(seen.slice(1).every(({ total }) => total <= 1)).toBe(true);
  });

  test("together with increments of other clients: the total never falls or exceeds what was issued, and ends exact", async () => {
    const { db } = newClient();
    const others = [newClient(), newClient(), newClient()];
    const ref = counter(db, "watch:crowd");
    const { totals, sees } = await watching(db, "watch:crowd");
    let issued = 0;
    const broken: string[] = [];
    const stop = onCounter(ref, ({ total }) => {
      if (total > issued) broken.push(`${total} of ${issued}`);
    });
    const writes: Promise<void>[] = [];
    for (let n = 0; n < 60; n++) {
      issued++;
      const writer = n % 2 === 0 ? ref : counter((others[n % 3] as Client).db, "watch:crowd");
      writes.push(incrementCounter(writer));
      await sleep(5);
    }
    await Promise.all(writes);
    await sees(({ total, pending }) => total === 60 && !pending, "the truth");
    const seen = totals();
    expect(seen.filter((total, i) => total < (seen[i - 1] ?? 0))).toEqual([]);
    expect(broken).toEqual([]);
    stop();
  });
});

test("a watch that the rules refuse ends, and the console says why", async () => {
  const told = vi.spyOn(console, "error").mockImplementation(() => {});
  const { db } = newClient();
  const seen: unknown[] = [];
  onCounter(counter(db, "watch:refused", { collection: "elsewhere" }), (snapshot) => seen.push(snapshot));
  onIncremented(counter(db, "likes:refused"), "alice", (liked) => seen.push(liked));
  const denied = expect.objectContaining({ code: "permission-denied" });
  await until(() => told.mock.calls.filter(([first]) => first instanceof Error).length === 2, "both refusals");
  expect(told.mock.calls.map(([first]) => first).filter((first) => first instanceof Error)).toEqual([denied, denied]);
  expect(seen).toEqual([]);
  told.mockRestore();
});

test("a buffered counter shows its sum at once, writes it once, and keeps a refused sum", async () => {
  const { db } = newClient();
  const ref = counter(db, "watch:buffer");
  const { last, totals, sees } = await watching(db, "watch:buffer");
  const errors: unknown[] = [];
  const buffer = bufferedCounter(ref, { flushInterval: 60_000, onError: (error) => errors.push(error) });
  buffer.increment();
  await until(() => last().total === 1, "the increment");
  expect(last().pending).toBe(true);
  await buffer.flush();
  await until(() => !last().pending, "the write");
  // The default rules refuse an amount of 2.
  buffer.increment();
  buffer.increment();
  await expect(buffer.flush()).rejects.toMatchObject({ code: "counter/permission-denied" });
  expect(errors).toHaveLength(1);
  expect(last()).toMatchObject({ total: 3, pending: true });
  buffer.increment(-1);
  await buffer.close();
  await sees(({ total, pending }) => total === 2 && !pending, "the rest");
  expect(await sumOfIncrements("watch:buffer")).toBe(2);
  expect((await admin.doc("counters/watch:buffer").get()).get("direct.writes")).toBe(2);
  expect(Math.max(...totals())).toBe(3);
});
