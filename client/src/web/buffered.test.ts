/** A buffered counter in a hidden page, with the real SDK and a server that never answers. */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { deleteApp, type FirebaseApp, initializeApp } from "firebase/app";
import {
  collection,
  connectFirestoreEmulator,
  type Firestore,
  getDocsFromCache,
  getFirestore,
  setLogLevel,
  terminate,
} from "firebase/firestore";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bufferedCounter } from "./buffered.ts";
import { counter } from "./counter.ts";

/** Shorter than an increment waits for the shard count, and longer than the SDK takes to queue a write. */
const AT_ONCE_MS = 500;

let server: Server;
let connections: Set<Socket>;
let app: FirebaseApp;
let db: Firestore;
let page: EventTarget & { visibilityState: string; hidden: boolean };

beforeEach(async () => {
  setLogLevel("silent");
  connections = new Set();
  server = createServer((connection) => connections.add(connection.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  app = initializeApp({ projectId: "demo-tally-hidden" }, "hidden");
  db = getFirestore(app);
  connectFirestoreEmulator(db, "127.0.0.1", (server.address() as AddressInfo).port);
  page = Object.assign(new EventTarget(), { visibilityState: "visible", hidden: false });
  vi.stubGlobal("document", page);
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await terminate(db);
  await deleteApp(app);
  for (const connection of connections) connection.destroy();
  server.close();
  setLogLevel("error");
});

/** Whether the SDK has queued a write of a shard, as its cache shows. */
async function hasSent(path: string): Promise<boolean> {
  const shards = await getDocsFromCache(collection(db, `${path}/shards`));
  return shards.docs.some(({ metadata }) => metadata.hasPendingWrites);
}

test("a page that becomes hidden writes its buffer at once, without reading the shard count first", async () => {
  const ref = counter(db, "scrolls:hidden");
  const buffer = bufferedCounter(ref, { flushInterval: 3_600_000, onError: () => {} });
  buffer.increment();
  expect(await hasSent(ref.path)).toBe(false);
  page.visibilityState = "hidden";
  page.hidden = true;
  page.dispatchEvent(new Event("visibilitychange"));
  await vi.waitUntil(() => hasSent(ref.path), { timeout: AT_ONCE_MS, interval: 20 });
});

test.each([0, -1, Number.NaN, 2.5])("with via, maxPending cannot be %d", (maxPending) => {
  expect(() => bufferedCounter(counter(db, "scrolls:via"), { via: "http://127.0.0.1:1/", maxPending })).toThrow(
    expect.objectContaining({ code: "counter/invalid-option" }),
  );
});
