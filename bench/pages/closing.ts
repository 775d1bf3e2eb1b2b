/**
 * A page of an app that counts, with Tally or with the SDK alone, and the other tab of that app. `closingTabs.ts` opens it, has it
 * write, and ends it.
 */
import { deleteApp, type FirebaseApp, initializeApp } from "firebase/app";
import {
  clearIndexedDbPersistence,
  connectFirestoreEmulator,
  type DocumentReference,
  doc,
  type Firestore,
  getDoc,
  getDocFromCache,
  increment,
  initializeFirestore,
  onSnapshot,
  persistentLocalCache,
  persistentMultipleTabManager,
  serverTimestamp,
  setDoc,
  setLogLevel,
  terminate,
  writeBatch,
} from "firebase/firestore";
import {
  counter,
  getCounter,
  getIncremented,
  incrementCounter,
  incrementCounterIn,
  onCounter,
  onIncremented,
  undoIncrement,
} from "firestore-tally";

/** What a page does before it ends. */
export interface Visit {
  /** Names the app, and so its storage, and ends the ids of its counters. */
  readonly name: string;
  readonly project: string;
  readonly uid: string;
  /** `host:port` of Firestore. */
  readonly firestore: string;
  readonly isPersistent: boolean;
  readonly client: Client;
  readonly state: State;
  readonly views: number;
  /** Whether it likes one post and unlikes another. */
  readonly likes: boolean;
  /** How long after the views, in milliseconds. */
  readonly likeAfter: number;
  /** How long the page has been idle before, in milliseconds: its clock jumps. */
  readonly idle: number;
}

/** Tally, the SDK alone, or Tally's writes in batches of the app, which go to the SDK's queue in the call. */
export type Client = "tally" | "plain" | "batch";
/** What the page knows of its counters and entries. */
export type State = "watched" | "read" | "unread";

/** What a client does: to the views, to the likes of a post, and to those of a post that is liked already. */
interface Counting {
  /** @param known - called with each counter and entry of which the server has told */
  watch(known: (what: string) => void): void;
  read(): Promise<unknown>;
  view(): Promise<unknown>;
  like(): Promise<unknown>;
  unlike(): Promise<unknown>;
}

/** Three counters and two entries. */
const WATCHED = 5;

const tally = (db: Firestore, { name, uid }: Visit): Counting => {
  const [views, likes, unlikes] = [
    counter(db, `views:${name}`),
    counter(db, `likes:${name}`),
    counter(db, `likes:un-${name}`),
  ];
  return {
    watch(known) {
      for (const ref of [views, likes, unlikes]) onCounter(ref, ({ fromCache }) => fromCache || known(ref.path));
      for (const ref of [likes, unlikes]) onIncremented(ref, uid, () => known(`entry of ${ref.path}`));
    },
    read: () =>
      Promise.all([
        ...[views, likes, unlikes].map(getCounter),
        ...[likes, unlikes].map((ref) => getIncremented(ref, uid)),
      ]),
    view: () => incrementCounter(views),
    like: () => incrementCounter(likes, 1, { once: uid }),
    unlike: () => undoIncrement(unlikes, uid),
  };
};

const batch = (db: Firestore, visit: Visit): Counting => {
  const commit = (id: string, options?: { once: string }) => {
    const own = writeBatch(db);
    incrementCounterIn(own, counter(db, id + visit.name), 1, options);
    return own.commit();
  };
  return {
    ...tally(db, visit),
    view: () => commit("views:"),
    like: () => commit("likes:", { once: visit.uid }),
    // There is no undo for batches.
    unlike: () => Promise.resolve(),
  };
};

const plain = (db: Firestore, { name, uid }: Visit): Counting => {
  const [views, likes, unlikes] = [
    doc(db, `plain/views-${name}`),
    doc(db, `plain/likes-${name}`),
    doc(db, `plain/un-${name}`),
  ];
  const entry = (ref: DocumentReference) => doc(ref, "entries", uid);
  const all = [views, likes, unlikes, entry(likes), entry(unlikes)];
  return {
    watch(known) {
      for (const ref of all)
        onSnapshot(ref, { includeMetadataChanges: true }, ({ metadata }) => metadata.fromCache || known(ref.path));
    },
    read: () => Promise.all(all.map((ref) => getDoc(ref))),
    view: () => setDoc(views, { total: increment(1) }, { merge: true }),
    like: () =>
      writeBatch(db)
        .set(entry(likes), { at: serverTimestamp() })
        .set(likes, { total: increment(1) }, { merge: true })
        .commit(),
    unlike: () =>
      writeBatch(db)
        .delete(entry(unlikes))
        .set(unlikes, { total: increment(-1) }, { merge: true })
        .commit(),
  };
};

const CLIENTS = { tally, plain, batch };

setLogLevel("silent");

/** The open apps by name. */
const apps = new Map<string, { readonly app: FirebaseApp; readonly db: Firestore; counting?: Counting }>();

/** Opens the app as one more tab has it open. Resolves when its queue runs. */
async function open(visit: Visit): Promise<void> {
  const app = initializeApp({ projectId: visit.project, apiKey: "any" }, visit.name);
  const localCache = persistentLocalCache({ tabManager: persistentMultipleTabManager() });
  const db = initializeFirestore(app, visit.isPersistent ? { localCache } : {});
  const [host = "", port] = visit.firestore.split(":");
  connectFirestoreEmulator(db, host, Number(port), { mockUserToken: { sub: visit.uid } });
  apps.set(visit.name, { app, db });
  if (visit.isPersistent) await getDocFromCache(doc(db, "plain/any")).catch(() => {});
}

/** Opens the app, and learns of the counters what the state says. */
async function prepare(visit: Visit): Promise<void> {
  await open(visit);
  const own = appOf(visit);
  const counting = CLIENTS[visit.client](own.db, visit);
  own.counting = counting;
  if (visit.state === "read") await counting.read();
  if (visit.state === "watched") {
    const known = new Set<string>();
    await new Promise<void>((resolve) => counting.watch((what) => known.add(what).size === WATCHED && resolve()));
  }
  window.addEventListener("pagehide", () => localStorage.setItem(endOf(visit), String(Date.now())));
}

/** Writes. @returns the time of the last call */
async function write(visit: Visit): Promise<number> {
  const { view, like, unlike } = appOf(visit).counting as Counting;
  const ignore = () => {};
  const now = performance.now.bind(performance);
  performance.now = () => now() + visit.idle;
  for (let n = 0; n < visit.views; n++) view().catch(ignore);
  if (visit.likes) {
    if (visit.likeAfter > 0) await new Promise((resolve) => setTimeout(resolve, visit.likeAfter));
    like().catch(ignore);
    unlike().catch(ignore);
  }
  return Date.now();
}

/** Closes the app as the end of its tab does. */
async function close(visit: Visit): Promise<void> {
  const { app, db } = appOf(visit);
  apps.delete(visit.name);
  await terminate(db);
  await deleteApp(app);
}

/** Removes what the app has stored. @returns when its page was closed, by this device's clock; `NaN` if it was not told */
async function remove(visit: Visit): Promise<number> {
  const own = apps.get(visit.name);
  if (own) {
    await close(visit);
    await clearIndexedDbPersistence(own.db).catch(() => {});
  }
  const endedAt = Number(localStorage.getItem(endOf(visit)) ?? Number.NaN);
  localStorage.removeItem(endOf(visit));
  return endedAt;
}

function endOf({ name }: Visit): string {
  return `end of ${name}`;
}

function appOf({ name }: Visit) {
  const own = apps.get(name);
  if (!own) throw new Error(`${name} is not open`);
  return own;
}

const functions = { open, prepare, write, close, remove };
declare global {
  interface Window {
    closing: typeof functions;
  }
}
window.closing = functions;
