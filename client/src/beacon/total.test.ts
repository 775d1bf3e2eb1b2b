/** Totals for pages without the Firebase SDK, from a function that is simulated. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { beacon } from "./beacon.ts";
import { INGEST_URL, type ServedTotals, serveTotals, TOTALS_URL } from "./servedTotals.ts";
import { type BeaconTotal, type BeaconTotalError, type BeaconTotalOptions, onTotal } from "./total.ts";

let served: ServedTotals;
let stops: (() => void)[];

beforeEach(() => {
  served = serveTotals();
  stops = [];
});
afterEach(() => {
  for (const stop of stops) stop();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

function watch(
  id: string,
  { beacon, onError }: BeaconTotalOptions & { onError?: (error: BeaconTotalError) => void } = {},
) {
  const seen: BeaconTotal[] = [];
  const stop = onTotal(
    TOTALS_URL,
    id,
    { next: (total) => seen.push(total), ...(onError && { error: onError }) },
    { beacon },
  );
  stops.push(stop);
  return { seen, stop, last: () => seen.at(-1) };
}

const A = "views:a";
const nothing = () => vi.advanceTimersByTimeAsync(0);
const seconds = (n: number) => vi.advanceTimersByTimeAsync(n * 1_000);

test("watches of a page share a request, which names each counter once; an id may have any character but a comma", async () => {
  served.totals = { [A]: { total: 3, asOf: 1_000 }, "views:ü/&": null };
  const [first, second, odd] = [watch(A), watch(A), watch("views:ü/&")];
  await nothing();
  expect(served.asked).toEqual([`views%3Aa,${encodeURIComponent("views:ü/&")}`]);
  expect(first.seen).toEqual([{ total: 3, asOf: 1_000 }]);
  expect([second.seen, odd.seen]).toEqual([first.seen, [{ total: 0, asOf: null }]]);
  for (const id of ["a,b", "views:\ud800"])
    expect(() => watch(id)).toThrow(expect.objectContaining({ code: "counter/invalid-id" }));
});

test("a total never goes back, and a watch that has ended is silent", async () => {
  const { seen, stop } = watch(A);
  for (const answer of [{ total: 3, asOf: 1_000 }, { total: 2, asOf: 900 }, null, { total: 4, asOf: 1_100 }]) {
    served.totals = { [A]: answer };
    await seconds(1);
  }
  expect(seen.map(({ total }) => total)).toEqual([3, 4]);
  stop();
  const asked = served.asked.length;
  await seconds(60);
  expect(served.asked.length).toBe(asked);
});

test("a watch may end another one of the same counter, which is silent then", async () => {
  served.totals = { [A]: { total: 3, asOf: 1_000 } };
  const seen: number[] = [];
  const [first, second] = [0, 1].map((n) =>
    onTotal(TOTALS_URL, A, () => {
      seen.push(n);
      (n === 0 ? second : first)?.();
    }),
  );
  stops.push(first as () => void);
  await seconds(1);
  expect(seen).toEqual([0]);
});

test("a counter that is not listed ends its own watch, and no other", async () => {
  served.totals = { [A]: { total: 3, asOf: 1_000 } };
  const onError = vi.fn();
  const good = watch(A);
  watch("votes:final", { onError });
  await nothing();
  expect(good.seen).toHaveLength(1);
  expect(onError).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ code: "counter/unavailable", status: 403 }),
  );
  await seconds(2);
  expect(served.asked.slice(3)).toEqual(["views%3Aa", "views%3Aa"]);
});

test("failures are told, and the watch goes on; those that begin meanwhile wait with the others", async () => {
  served.totals = { [A]: { total: 3, asOf: 1_000 }, "views:b": null };
  served.status = 503;
  const onError = vi.fn();
  const first = watch(A, { onError });
  await nothing();
  expect(onError).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ code: "counter/unavailable", status: 503 }),
  );
  const later = watch("views:b", { onError });
  await vi.advanceTimersByTimeAsync(900);
  expect(served.asked).toHaveLength(1);
  served.status = 200;
  await seconds(2);
  expect([first.seen, later.seen].map(({ length }) => length)).toEqual([1, 1]);
});

test.each([
  ["a refusal", 404, "<html>Not here</html>"],
  ["a page", 200, "<html>Welcome</html>"],
  ["totals of other counters", 200, '{"totals": {}}'],
])(
  "%s by another server ends no watch and shows nothing; without an error callback, the console tells it once in a while",
  async (_what, status, other) => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    served.totals = { [A]: { total: 3, asOf: 1_000 } };
    Object.assign(served, { status, other });
    const onError = vi.fn();
    const [first, second] = [watch(A), watch(A, { onError })];
    await seconds(20);
    expect(logged).not.toHaveBeenCalled();
    await seconds(600);
    const unavailable = { code: "counter/unavailable", status: 0, message: expect.stringContaining(TOTALS_URL) };
    expect(logged).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(unavailable));
    expect([onError.mock.calls.length > 6, first.seen]).toEqual([true, []]);
    Object.assign(served, { status: 200, other: undefined });
    await seconds(60);
    expect([first.last()?.total, second.last()?.total]).toEqual([3, 3]);
  },
);

test("a watch whose callback throws leaves the others alone, and is called with the next total", async () => {
  const thrown: unknown[] = [];
  vi.spyOn(Promise, "reject").mockImplementation((error) => {
    thrown.push(error);
    return new Promise(() => {});
  });
  served.totals = { [A]: { total: 3, asOf: 1_000 }, "views:b": { total: 5, asOf: 1_000 } };
  const site = beacon(INGEST_URL, { flushInterval: 3_600_000 });
  const failing: number[] = [];
  const next = ({ total }: BeaconTotal) => {
    failing.push(total);
    throw new Error("no such element");
  };
  stops.push(onTotal(TOTALS_URL, A, next, { beacon: site }));
  const other = watch("views:b");
  await nothing();
  expect(() => site.count(A)).not.toThrow();
  expect(failing).toEqual([3, 4]);
  served.totals = { [A]: { total: 7, asOf: 2_000 }, "views:b": { total: 6, asOf: 2_000 } };
  await seconds(1);
  expect([failing.length, other.seen.length]).toEqual([3, 2]);
  expect(thrown).toEqual(Array(3).fill(new Error("no such element")));
});

test("long ids share requests that servers and proxies accept", async () => {
  const ids = Array.from({ length: 60 }, (_, n) => `views:${"é".repeat(40)}${n}`);
  served.totals = Object.fromEntries(ids.map((id) => [id, { total: 1, asOf: 1_000 }]));
  const watches = ids.map((id) => watch(id));
  await nothing();
  expect(watches.filter(({ seen }) => seen.length === 1)).toHaveLength(60);
  expect(served.asked.length).toBeLessThan(6);
  expect(Math.max(...served.asked.map(({ length }) => length))).toBeLessThanOrEqual(4_000);
});

test.each([
  ["offline", "online", { onLine: false }, { onLine: true }],
  ["hidden", "visibilitychange", { hidden: true }, { hidden: false }],
])("a page that is %s does not ask, and asks at once after %s", async (_state, event, before, after) => {
  const page = Object.assign(new EventTarget(), before);
  vi.stubGlobal(event === "online" ? "navigator" : "document", page);
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
  served.totals = { [A]: { total: 3, asOf: 1_000 } };
  const onError = vi.fn();
  const { seen } = watch(A, { onError });
  await seconds(60);
  expect([served.asked, onError.mock.calls]).toEqual([[], []]);
  Object.assign(page, after).dispatchEvent(new Event(event));
  await nothing();
  expect(seen).toHaveLength(1);
});

test("an amount from before the watch shows in the first total, also if it was acknowledged before that", async () => {
  const own = beacon(INGEST_URL);
  served.totals = { [A]: { total: 10, asOf: 1_000 } };
  const page = Object.assign(new EventTarget(), { hidden: true });
  vi.stubGlobal("document", page);
  own.count(A);
  const { seen } = watch(A, { beacon: own });
  await seconds(5);
  expect([served.sent.length, seen]).toEqual([1, []]);
  Object.assign(page, { hidden: false }).dispatchEvent(new Event("visibilitychange"));
  await nothing();
  expect(seen).toEqual([{ total: 11, asOf: 1_000 }]);
});

test("the amounts of a beacon show at once, until a total that is later than their acknowledgement", async () => {
  const own = beacon(INGEST_URL, { maxAmount: 3, flushInterval: 60_000 });
  served.totals = { [A]: { total: 10, asOf: 1_000 } };
  own.count(A, 2);
  const { last } = watch(A, { beacon: own });
  await nothing();
  expect(last()?.total).toBe(12);
  own.count(A, 5);
  own.count("views:b", 5);
  expect(last()?.total).toBe(17);
  await own.flush();
  served.totals = { [A]: { total: 11, asOf: 1_900 } };
  await seconds(1);
  expect(last()).toEqual({ total: 18, asOf: 1_900 });
  served.totals = { [A]: { total: 18, asOf: 2_100 } };
  await seconds(1);
  expect(last()).toEqual({ total: 18, asOf: 2_100 });
});

test("an amount that is dropped no longer shows, and one that is counted again shows without a gap", async () => {
  const onError = vi.fn();
  const own = beacon(INGEST_URL, { onError });
  served.totals = { [A]: { total: 10, asOf: 1_000 } };
  const { seen } = watch(A, { beacon: own });
  own.count("views:b", 2);
  own.count(A, 5);
  served.skipped = [
    { index: 0, status: 403, error: "events[0].counter is not listed" },
    { index: 1, status: 400, error: "events[1].by is too large", maxAmount: 2 },
  ];
  await own.flush();
  const sent = served.sent.map((body) => JSON.parse(body).events.map(({ by }: { by: number }) => by));
  expect(sent).toEqual([
    [2, 5],
    [2, 2, 1],
  ]);
  await seconds(1);
  served.skipped = [{ index: 0, status: 403, error: "events[0].counter is not listed" }];
  own.count(A);
  await own.flush();
  await seconds(1);
  expect(seen.map(({ total }) => total)).toEqual([15, 16, 15]);
  expect(onError).toHaveBeenCalledTimes(2);
});

test("an acknowledged amount shows for 30 seconds if no later total follows", async () => {
  const own = beacon(INGEST_URL);
  served.totals = { [A]: { total: 10, asOf: 1_900 } };
  const { last } = watch(A, { beacon: own });
  await nothing();
  own.count(A, 5);
  await own.flush();
  await seconds(30);
  expect(last()?.total).toBe(15);
  await seconds(2);
  expect(last()?.total).toBe(10);
});
