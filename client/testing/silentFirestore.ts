/** For unit tests of the web client in a page: the real SDK, a server that never answers, and a page that can be hidden. */
import { setMaxListeners } from "node:events";
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
import { afterEach, beforeEach, vi } from "vitest";

/** Shorter than any wait for the shard count, and longer than the SDK takes to queue a write. */
const AT_ONCE_MS = 500;

/** A document, as a page has it, that says how many listen to `visibilitychange`. */
export class Page extends EventTarget {
  hidden = false;
  visibilityState = "visible";
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
    this.visibilityState = "hidden";
    this.dispatchEvent(new Event("visibilitychange"));
  }
}

/** What a test has. It is new for each test. */
export interface SilentFirestore {
  db: Firestore;
  page: Page;
  server: Server;
  connections: Set<Socket>;
}

/** To be called once in a test file. @returns what the current test has */
export function silentFirestore(): SilentFirestore {
  const current = {} as SilentFirestore;
  let app: FirebaseApp;
  beforeEach(async () => {
    setLogLevel("silent");
    const connections = new Set<Socket>();
    const server = createServer((connection) => connections.add(connection.on("error", () => {})));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    app = initializeApp({ projectId: "demo-tally-silent" }, "silent");
    const db = getFirestore(app);
    connectFirestoreEmulator(db, "127.0.0.1", (server.address() as AddressInfo).port);
    const page = new Page();
    // Each counter that is read listens.
    setMaxListeners(0, page);
    vi.stubGlobal("document", page);
    Object.assign(current, { db, page, server, connections });
  });
  afterEach(async () => {
    vi.unstubAllGlobals();
    await terminate(current.db);
    await deleteApp(app);
    for (const connection of current.connections) connection.destroy();
    current.server.close();
    setLogLevel("error");
  });
  return current;
}

/** Whether the SDK has queued a write of a shard of the counter, as its cache shows. */
export async function isQueued(db: Firestore, path: string): Promise<boolean> {
  const shards = await getDocsFromCache(collection(db, `${path}/shards`));
  return shards.docs.some(({ metadata }) => metadata.hasPendingWrites);
}

/** Rejects if no such write is queued before a wait for the shard count could end. */
export function queuedAtOnce(db: Firestore, path: string): Promise<unknown> {
  return vi.waitUntil(() => isQueued(db, path), { timeout: AT_ONCE_MS, interval: 20 });
}
