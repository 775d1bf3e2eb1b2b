/** How long an increment waits for the first read of the shard count, with the real SDK and a server that never answers. */
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
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Counter, counter, refreshShardCount } from "./counter.ts";
import { incrementCounter } from "./increment.ts";

/** Shorter than any wait for the shard count, and longer than the SDK takes to queue a write. */
const AT_ONCE_MS = 500;

/** A document, as a page has it, that says how many listen to `visibilitychange`. */
class Page extends EventTarget {
  hidden = false;
  readonly listeners = new Set<unknown>();

  override addEventListener(...[type, listener]: Parameters<EventTarget["addEventListener"]>): void {
    if (type === "visibilitychange") this.listeners.add(listener);
    super.addEventListener(type, listener);
  }

  override removeEventListener(...[type, listener]: Parameters<EventTarget["removeEventListener"]>): void {
    if (type === "visibilitychange") this.listeners.delete(listener);
    super.removeEventListener(type, listener);
  }

  /** The user leaves the page, or closes it. */
  hide(): void {
    this.hidden = true;
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

let server: Server;
let connections: Set<Socket>;
let app: FirebaseApp;
let db: Firestore;
let page: Page;

beforeEach(async () => {
  setLogLevel("silent");
  connections = new Set();
  server = createServer((connection) => connections.add(connection.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  app = initializeApp({ projectId: "demo-tally-waits" }, "waits");
  db = getFirestore(app);
  connectFirestoreEmulator(db, "127.0.0.1", (server.address() as AddressInfo).port);
  page = new Page();
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
async function isQueued(path: string): Promise<boolean> {
  const shards = await getDocsFromCache(collection(db, `${path}/shards`));
  return shards.docs.some(({ metadata }) => metadata.hasPendingWrites);
}
const queuedAtOnce = (path: string) => vi.waitUntil(() => isQueued(path), { timeout: AT_ONCE_MS, interval: 20 });

/** An increment whose outcome does not matter. */
const increment = (ref: Parameters<typeof incrementCounter>[0]) => incrementCounter(ref).catch(() => {});

describe("an increment without a known shard count", () => {
  test("waits for the read on a visible page, and goes to the queue at once when the page is hidden", async () => {
    const ref = counter(db, "views:left");
    increment(ref);
    await expect(queuedAtOnce(ref.path)).rejects.toThrow();
    page.hide();
    await queuedAtOnce(ref.path);
  });

  test("does not wait on a page that was hidden before", async () => {
    page.hide();
    const ref = counter(db, "views:hidden");
    increment(ref);
    await queuedAtOnce(ref.path);
  });

  test("does not listen to the page after the read has failed", async () => {
    const ref = counter(db, "views:listeners") as Counter;
    const waiting = refreshShardCount(ref);
    expect(refreshShardCount(ref)).toBe(waiting);
    expect(page.listeners.size).toBe(1);
    await vi.waitUntil(() => connections.size > 0);
    server.close();
    for (const connection of connections) connection.destroy();
    await waiting;
    expect(page.listeners.size).toBe(0);
    expect(ref._reading).toBeUndefined();
  });
});
