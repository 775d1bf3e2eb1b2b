/**
 * Three ways to count, each as its users would write it: one document; the recipe of Firestore's documentation, ten fixed
 * shards that the reader sums; and Tally. The first two live in a project of their own that no function watches, under
 * rules that accept a step of 1 and nothing else, as Tally's do.
 *
 * https://firebase.google.com/docs/firestore/solutions/counters
 */
import { collection, doc, type Firestore, getDocs, increment, onSnapshot, setDoc, updateDoc } from "firebase/firestore";
import { counter, incrementCounter, onCounter } from "firestore-tally";

/** What the recipe's readers see is what they sum themselves. Somebody who watches a counter does so each second. */
const POLL_MS = 1_000;

/** As many as the recipe's example has. */
const SHARDS = 10;

export interface Contender {
  readonly title: string;
  /** Whether it is Tally's project that it lives in, with Tally's rules and functions. */
  readonly isTally: boolean;
  /** Documents that must exist before the first increment, each with `count` 0. */
  documents(id: string): string[];
  increment(db: Firestore, id: string): Promise<void>;
  /** Calls `next` with each total that a watcher sees. @returns a function that ends the watch */
  watch(db: Firestore, id: string, next: (total: number) => void): () => void;
  /** The collection whose counts sum to what was counted, whatever anybody published. */
  counts(id: string): string;
}

const single: Contender = {
  title: "one document",
  isTally: false,
  documents: (id) => [`singles/${id}/counts/0`],
  increment: (db, id) => updateDoc(doc(db, `singles/${id}/counts/0`), { count: increment(1) }),
  watch: (db, id, next) => onSnapshot(doc(db, `singles/${id}/counts/0`), (seen) => next(seen.get("count") ?? 0)),
  counts: (id) => `singles/${id}/counts`,
};

const recipe: Contender = {
  title: "recipe, 10 shards",
  isTally: false,
  documents: (id) => Array.from({ length: SHARDS }, (_, n) => `recipes/${id}/shards/${n}`),
  increment: (db, id) =>
    updateDoc(doc(db, `recipes/${id}/shards/${Math.floor(Math.random() * SHARDS)}`), { count: increment(1) }),
  watch(db, id, next) {
    const sum = async () => {
      const { docs } = await getDocs(collection(db, `recipes/${id}/shards`));
      next(docs.reduce((total, shard) => total + shard.get("count"), 0));
    };
    // A poll that fails shows nothing; the next one does.
    const poll = () => void sum().catch(() => undefined);
    poll();
    const polling = setInterval(poll, POLL_MS);
    return () => clearInterval(polling);
  },
  counts: (id) => `recipes/${id}/shards`,
};

const tally: Contender = {
  title: "Tally",
  isTally: true,
  documents: () => [],
  increment: (db, id) => incrementCounter(counter(db, id)),
  watch: (db, id, next) => onCounter(counter(db, id), ({ total }) => next(total)),
  counts: (id) => `counters/${id}/shards`,
};

export const CONTENDERS = { single, recipe, tally } as const;
export type ContenderName = keyof typeof CONTENDERS;

/** A bare write of each client to a document of its own: no write waits for another. */
const floor: Pick<Contender, "increment"> = {
  increment: (db) => setDoc(doc(db, `floor/${db.app.name}`), { count: increment(1) }, { merge: true }),
};

/** What clients can be told to do. */
export const WRITES = { ...CONTENDERS, floor } as const;

/** Rules of the project of those who are not Tally. */
export const RIVALS_RULES = `
rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents/{all=**} {
    allow read: if true;
    allow update: if request.resource.data.keys().hasOnly(['count'])
      && request.resource.data.count == resource.data.count + 1;
  }
}`;
