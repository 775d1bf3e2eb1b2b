/** Watches via the function `totals`, with the real SDK and without a server of Firestore. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { deleteApp, type FirebaseApp, initializeApp } from "firebase/app";
import { connectFirestoreEmulator, type Firestore, getFirestore, setLogLevel, terminate } from "firebase/firestore";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bufferedCounter } from "./buffered.ts";
import { counter } from "./counter.ts";
import type { CounterSnapshot } from "./read.ts";
import { onCounter } from "./watch.ts";

let server: Server;
let url: string;
let status: number;
let published: { total: number; asOf: number } | null;
/** How often totals were asked for. */
let asked: number;
/** What `ingest` has got. */
let sent: string[];
let app: FirebaseApp;
let db: Firestore;

beforeEach(async () => {
  setLogLevel("silent");
  [status, published, sent, asked] = [200, null, [], 0];
  server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    if (request.method === "POST") {
      sent.push(String(Buffer.concat(chunks)));
      response.end('{"at": 5000}');
      return;
    }
    asked++;
    response.writeHead(status, { "cache-control": "public, max-age=1" });
    response.end(JSON.stringify({ totals: { "views:a": published } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  app = initializeApp({ projectId: "demo-tally-totals" }, "totals");
  db = getFirestore(app);
  connectFirestoreEmulator(db, "127.0.0.1", 1);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await terminate(db);
  await deleteApp(app);
  server.closeAllConnections();
  server.close();
  setLogLevel("error");
});

const soon = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 40_000, interval: 20 });

test("totals come from the URL, with increments via ingest at once, until a total that includes them", async () => {
  published = { total: 10, asOf: 1_000 };
  const seen: CounterSnapshot[] = [];
  const ref = counter(db, "views:a");
  const stop = onCounter(ref, (snapshot) => seen.push(snapshot), undefined, { via: url });
  await soon(() => seen.at(-1)?.total === 10);
  expect(seen.at(-1)).toMatchObject({ pending: false, fromCache: false, shardCount: 1, rate: 0 });
  expect(seen.at(-1)?.asOf?.toMillis()).toBe(1_000);
  const buffer = bufferedCounter(ref, { via: url, flushInterval: 100, maxPending: 3 });
  buffer.increment(5);
  await soon(() => seen.at(-1)?.total === 15 && seen.at(-1)?.pending === true);
  await buffer.close();
  expect(sent.map((body) => JSON.parse(body).events.map(({ by }: { by: number }) => by))).toEqual([[3, 2]]);
  published = { total: 11, asOf: 2_000 };
  await soon(() => seen.at(-1)?.asOf?.toMillis() === 2_000);
  published = { total: 16, asOf: 20_000 };
  await soon(() => seen.at(-1)?.asOf?.toMillis() === 20_000);
  expect(seen.at(-1)).toMatchObject({ total: 16, pending: false });
  const totals = seen.map(({ total }) => total);
  expect(totals.filter((total, i) => total < (totals[i - 1] ?? 0))).toEqual([]);
  stop();
});

test("a watch that has a total waits while the function is busy", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  published = { total: 10, asOf: 1_000 };
  const seen: CounterSnapshot[] = [];
  const stop = onCounter(counter(db, "views:a"), (snapshot) => seen.push(snapshot), undefined, { via: url });
  await soon(() => seen.at(-1)?.total === 10);
  status = 429;
  const before = asked;
  await soon(() => asked === before + 3);
  [status, published] = [200, { total: 11, asOf: 2_000 }];
  await soon(() => seen.at(-1)?.total === 11);
  expect(warn).not.toHaveBeenCalled();
  stop();
}, 60_000);

test.each([
  ["the counter is refused", 403],
  ["the URL fails three times in a row", 503],
])("a watch falls back to a listener when %s, says so once, and keeps its total", async (_what, refusal) => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  published = { total: 10, asOf: 1_000 };
  const seen: CounterSnapshot[] = [];
  const stop = onCounter(counter(db, "views:a"), (snapshot) => seen.push(snapshot), undefined, { via: url });
  await soon(() => seen.at(-1)?.total === 10);
  status = refusal;
  await soon(() => warn.mock.calls.length > 0);
  // Without a server, the listener delivers an empty document from the cache after some time.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn.mock.calls[0]?.[0]).toMatch(/listen to Firestore/);
  expect(seen.at(-1)?.total).toBe(10);
  stop();
});
