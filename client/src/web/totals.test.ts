/** Watches via the function `totals`, with the real SDK, without a server of Firestore, and on a clock that the tests advance. */
import { deleteApp, type FirebaseApp, initializeApp } from "firebase/app";
import {
  connectFirestoreEmulator,
  type Firestore,
  getFirestore,
  setLogLevel,
  Timestamp,
  terminate,
} from "firebase/firestore";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { advanceUntil, INGEST_URL, type ServedTotals, serveTotals, TOTALS_URL } from "../beacon/servedTotals.ts";
import { bufferedCounter } from "./buffered.ts";
import { counter } from "./counter.ts";
import type { ServedCounterSnapshot } from "./read.ts";
import { counterStore } from "./store.ts";
import { onCounter } from "./watch.ts";

let served: ServedTotals;
let app: FirebaseApp;
let db: Firestore;
let stop: () => void;

// A watch loads it, which takes real time.
await import("./totals.ts");

beforeEach(() => {
  setLogLevel("silent");
  served = serveTotals();
  app = initializeApp({ projectId: "demo-tally-totals" }, "totals");
  db = getFirestore(app);
  connectFirestoreEmulator(db, "127.0.0.1", 1);
});
afterEach(async () => {
  stop();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
  await terminate(db);
  await deleteApp(app);
  setLogLevel("error");
});

/** Watches `views:a`, of which 10 are published. @param path  of the function, so that tests share no state of a URL */
async function watching(path: string) {
  served.totals = { "views:a": { total: 10, asOf: 1_000 } };
  const seen: ServedCounterSnapshot[] = [];
  const ref = counter(db, "views:a");
  stop = onCounter(ref, (snapshot) => seen.push(snapshot), { via: TOTALS_URL + path });
  const last = () => seen.at(-1);
  await advanceUntil(() => last()?.total === 10, "the first total");
  const publish = async (total: number, asOf: number) => {
    served.totals = { "views:a": { total, asOf } };
    await advanceUntil(() => last()?.asOf?.toMillis() === asOf, "the next total");
  };
  return { ref, seen, last, publish };
}

test("totals come from the URL, with increments via ingest at once, until a total that includes them", async () => {
  const { ref, seen, last, publish } = await watching("");
  expect(last()).toEqual({
    total: 10,
    asOf: Timestamp.fromMillis(1_000),
    version: 1_000_999,
    pending: false,
    fromCache: false,
  });
  const buffer = bufferedCounter(ref, { via: INGEST_URL, flushInterval: 100, maxPending: 3 });
  buffer.increment(5);
  await advanceUntil(() => last()?.total === 15 && last()?.pending === true, "the increment");
  await buffer.close();
  expect(served.sent.map((body) => JSON.parse(body).events.map(({ by }: { by: number }) => by))).toEqual([[3, 2]]);
  await publish(11, 1_500);
  await publish(16, 20_000);
  expect(last()).toMatchObject({ total: 16, pending: false });
  const totals = seen.map(({ total }) => total);
  expect(totals).toEqual([...totals].sort((a, b) => a - b));
});

test("a watch that has a total waits while the function is busy", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const { publish } = await watching("/busy");
  served.status = 429;
  const asked = served.asked.length;
  await advanceUntil(() => served.asked.length === asked + 5, "five refusals");
  served.status = 200;
  await publish(11, 2_000);
  expect(warn).not.toHaveBeenCalled();
});

test.each([
  ["the counter is refused", 403],
  ["the URL fails three times in a row", 503],
])("a watch falls back to a listener when %s, says so once, and keeps its total", async (_what, status) => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const { seen, last } = await watching(`/${status}`);
  served.status = status;
  await advanceUntil(() => warn.mock.calls.length > 0, "the warning");
  const asked = served.asked.length;
  // Without a server, the listener delivers an empty document from the cache after ten seconds.
  await vi.advanceTimersByTimeAsync(30_000);
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/listen to Firestore/));
  expect([served.asked.length, seen.length, last()?.total]).toEqual([asked, 1, 10]);
});

test("a total from the URL follows the same total that a server has rendered", async () => {
  served.totals = { "views:a": { total: 10, asOf: 1_000 } };
  const store = counterStore(counter(db, "views:a"), {
    via: `${TOTALS_URL}rendered`,
    initialTotal: { total: 10, version: 1_000_500 },
  });
  stop = store.subscribe(() => {});
  await advanceUntil(() => store.getSnapshot().asOf?.toMillis() === 1_000, "the total from the URL");
});
