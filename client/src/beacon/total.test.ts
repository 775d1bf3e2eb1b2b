/** Totals from a server that stands in for the function `totals`. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Beacon, beacon } from "./beacon.ts";
import { onTotal, type Total } from "./total.ts";

let server: Server;
let url: string;
/** The answer to each request: by default, the totals. */
let status: number;
let totals: Record<string, { total: number; asOf: number } | null>;
let requests: string[];
let stops: (() => void)[];

beforeEach(async () => {
  [status, totals, requests, stops] = [200, {}, [], []];
  server = createServer((request, response) => {
    const query = (request.url as string).replace(/^.*ids=/, "");
    requests.push(query);
    const ids = query.split(",").map(decodeURIComponent);
    const isListed = ids.every((id) => id in totals);
    const answer = Object.fromEntries(ids.map((id) => [id, totals[id]]));
    response.writeHead(isListed ? status : 403, { "cache-control": "public, max-age=1" });
    response.end(isListed && status === 200 ? JSON.stringify({ totals: answer }) : '{"error": "no"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});

afterEach(() => {
  for (const stop of stops) stop();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

function watch(id: string, options?: Parameters<typeof onTotal>[3]) {
  const seen: Total[] = [];
  const stop = onTotal(url, id, (total) => seen.push(total), options);
  stops.push(stop);
  return { seen, stop, last: () => seen.at(-1) };
}

const soon = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 10_000, interval: 20 });

test("watches of a page share a request, which names each counter once; an id may have any character but a comma", async () => {
  totals = { "views:a": { total: 3, asOf: 1_000 }, "views:ü/&": null };
  const [first, second, odd] = [watch("views:a"), watch("views:a"), watch("views:ü/&")];
  await soon(() => [first, second, odd].every(({ seen }) => seen.length === 1));
  expect(requests).toEqual([`views%3Aa,${encodeURIComponent("views:ü/&")}`]);
  expect([second.last(), odd.last()]).toEqual([
    { total: 3, asOf: 1_000 },
    { total: 0, asOf: null },
  ]);
  for (const id of ["a,b", "views:\ud800"])
    expect(() => watch(id)).toThrow(expect.objectContaining({ code: "counter/invalid-id" }));
});

test("a total never goes back, and a watch that has ended is silent", async () => {
  totals = { "views:a": { total: 3, asOf: 1_000 } };
  const { seen, stop } = watch("views:a");
  await soon(() => seen.length === 1);
  totals = { "views:a": { total: 2, asOf: 900 } };
  await soon(() => requests.length === 2);
  totals = { "views:a": null };
  await soon(() => requests.length === 3);
  totals = { "views:a": { total: 4, asOf: 1_100 } };
  await soon(() => seen.length === 2);
  expect(seen.map(({ total }) => total)).toEqual([3, 4]);
  stop();
  const asked = requests.length;
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(requests.length).toBe(asked);
});

test("a watch may end another one of the same counter, which is silent then", async () => {
  totals = { "views:a": { total: 3, asOf: 1_000 } };
  const seen: number[] = [];
  const [first, second] = [0, 1].map((n) =>
    onTotal(url, "views:a", () => {
      seen.push(n);
      (n === 0 ? second : first)?.();
    }),
  );
  stops.push(first as () => void);
  await soon(() => seen.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(seen).toEqual([0]);
});

test("a counter that is not listed ends its own watch, and no other", async () => {
  totals = { "views:a": { total: 3, asOf: 1_000 } };
  const errors: unknown[] = [];
  const good = watch("views:a");
  watch("votes:final", { onError: (error) => errors.push(error) });
  await soon(() => good.seen.length === 1 && errors.length === 1);
  expect(errors).toEqual([expect.objectContaining({ code: "counter/unavailable", status: 403 })]);
  await soon(() => requests.length >= 5);
  expect(requests.slice(3)).not.toContain(expect.stringContaining("votes"));
});

test("failures are told, and the watch goes on", async () => {
  totals = { "views:a": { total: 3, asOf: 1_000 } };
  status = 503;
  const errors: { status: number }[] = [];
  const { seen } = watch("views:a", { onError: (error) => errors.push(error) });
  await soon(() => errors.length === 1);
  expect(errors[0]).toMatchObject({ code: "counter/unavailable", status: 503 });
  status = 200;
  await soon(() => seen.length === 1);
});

test("watches that begin after a failure wait with the others", async () => {
  totals = { "views:a": null, "views:b": null };
  status = 503;
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  watch("views:a", { onError });
  await soon(() => errors.length === 1);
  for (let n = 0; n < 3; n++) {
    watch("views:b", { onError });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(requests).toHaveLength(1);
});

test("a watch whose callback throws leaves the others alone, and is called with the next total", async () => {
  const thrown: unknown[] = [];
  vi.spyOn(Promise, "reject").mockImplementation((error) => {
    thrown.push(error);
    return new Promise(() => {});
  });
  totals = { "views:a": { total: 3, asOf: 1_000 }, "views:b": { total: 5, asOf: 1_000 } };
  const site = beacon(url, { flushInterval: 3_600_000 });
  const failing: number[] = [];
  const next = ({ total }: Total) => {
    failing.push(total);
    throw new Error("no such element");
  };
  stops.push(onTotal(url, "views:a", next, { beacon: site }));
  const other = watch("views:b");
  await soon(() => failing.length === 1 && other.seen.length === 1);
  expect(() => site.count("views:a")).not.toThrow();
  expect(failing).toEqual([3, 4]);
  totals = { "views:a": { total: 7, asOf: 2_000 }, "views:b": { total: 6, asOf: 2_000 } };
  await soon(() => failing.length === 3 && other.seen.length === 2);
  expect(thrown).toEqual(Array(3).fill(new Error("no such element")));
});

test("long ids share requests that servers and proxies accept", async () => {
  const ids = Array.from({ length: 60 }, (_, n) => `views:${"é".repeat(40)}${n}`);
  totals = Object.fromEntries(ids.map((id) => [id, { total: 1, asOf: 1_000 }]));
  const watches = ids.map((id) => watch(id));
  await soon(() => watches.every(({ seen }) => seen.length === 1));
  expect(requests.length).toBeLessThan(6);
  expect(Math.max(...requests.map(({ length }) => length))).toBeLessThanOrEqual(4_000);
});

test("a page that is offline does not ask, and asks at once when it is online again", async () => {
  const page = Object.assign(new EventTarget(), { onLine: false });
  vi.stubGlobal("navigator", page);
  vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
  vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
  totals = { "views:a": { total: 3, asOf: 1_000 } };
  const errors: unknown[] = [];
  const { seen } = watch("views:a", { onError: (error) => errors.push(error) });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect([requests, errors]).toEqual([[], []]);
  page.onLine = true;
  page.dispatchEvent(new Event("online"));
  await soon(() => seen.length === 1);
});

test("a hidden page does not ask, and asks at once when it is visible again", async () => {
  const page = Object.assign(new EventTarget(), { hidden: true });
  vi.stubGlobal("document", page);
  totals = { "views:a": { total: 3, asOf: 1_000 } };
  const { seen } = watch("views:a");
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(requests).toEqual([]);
  page.hidden = false;
  page.dispatchEvent(new Event("visibilitychange"));
  await soon(() => seen.length === 1);
});

test("the amounts of a beacon show at once, until a total that is later than their acknowledgement", async () => {
  const ingest = createServer((request, response) => {
    request.resume().on("end", () => response.end('{"at": 2000}'));
  });
  await new Promise<void>((resolve) => ingest.listen(0, "127.0.0.1", resolve));
  const own: Beacon = beacon(`http://127.0.0.1:${(ingest.address() as AddressInfo).port}/`, { maxAmount: 3 });
  totals = { "views:a": { total: 10, asOf: 1_000 } };
  own.count("views:a", 2);
  const { last } = watch("views:a", { beacon: own });
  await soon(() => last()?.total === 12);
  own.count("views:a", 5);
  own.count("views:b", 5);
  expect(last()?.total).toBe(17);
  await own.flush();
  totals = { "views:a": { total: 11, asOf: 1_900 } };
  await soon(() => last()?.asOf === 1_900);
  expect(last()?.total).toBe(18);
  totals = { "views:a": { total: 18, asOf: 2_100 } };
  await soon(() => last()?.asOf === 2_100);
  expect(last()?.total).toBe(18);
  ingest.closeAllConnections();
  ingest.close();
});
