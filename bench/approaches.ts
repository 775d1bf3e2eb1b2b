/**
 * Three ways to count, each as its users would write it: one document; the recipe of Firestore's documentation, which is ten
 * fixed shards that the reader sums (https://firebase.google.com/docs/firestore/solutions/counters); and Tally. The first two
 * have a project of their own, without functions, whose rules accept a step of 1 and nothing else, as Tally's rules do.
 */
import { collection, doc, type Firestore, getDocs, increment, onSnapshot, setDoc, updateDoc } from "firebase/firestore";
import { counter, incrementCounter, onCounter } from "firestore-tally";

/** How often a watcher of the recipe sums the shards. */
const POLL_MS = 1_000;

/** Shards of the documentation's example. */
const SHARDS = 10;

export interface Approach {
  /** Whether it runs in Tally's project, with Tally's rules and functions. */
  readonly isTally: boolean;
  /** Documents that must exist before the first increment, each with `count` 0. */
  documents(id: string): string[];
  increment(db: Firestore, id: string): Promise<void>;
  /** Calls `next` with each total that a watcher sees. @returns a function that ends the watch */
  watch(db: Firestore, id: string, next: (total: number) => void): () => void;
  /** The collection of the documents whose `count` fields sum to the total. */
  shards(id: string): string;
  /** The document that has a part of the total beside them, in `direct.count`. */
  counter?(id: string): string;
}

const single: Approach = {
  isTally: false,
  documents: (id) => [`singles/${id}/counts/0`],
  increment: (db, id) => updateDoc(doc(db, `singles/${id}/counts/0`), { count: increment(1) }),
  watch: (db, id, next) => onSnapshot(doc(db, `singles/${id}/counts/0`), (seen) => next(seen.get("count") ?? 0)),
  shards: (id) => `singles/${id}/counts`,
};

const recipe: Approach = {
  isTally: false,
  documents: (id) => Array.from({ length: SHARDS }, (_, n) => `recipes/${id}/shards/${n}`),
  increment: (db, id) =>
    updateDoc(doc(db, `recipes/${id}/shards/${Math.floor(Math.random() * SHARDS)}`), { count: increment(1) }),
  watch(db, id, next) {
    const poll = async () => {
      const { docs } = await getDocs(collection(db, `recipes/${id}/shards`));
      next(docs.reduce((total, shard) => total + shard.get("count"), 0));
    };
    // A failed poll shows nothing; the next one does.
    const polling = setInterval(() => poll().catch(() => undefined), POLL_MS);
    poll().catch(() => undefined);
    return () => clearInterval(polling);
  },
  shards: (id) => `recipes/${id}/shards`,
};

const tally: Approach = {
  isTally: true,
  documents: () => [],
  increment: (db, id) => incrementCounter(counter(db, id)),
  watch: (db, id, next) => onCounter(counter(db, id), ({ total }) => next(total)),
  shards: (id) => `counters/${id}/shards`,
  counter: (id) => `counters/${id}`,
};

export const APPROACHES = { single, recipe, tally } as const;
export type ApproachName = keyof typeof APPROACHES;

/** A bare write to a document of the client's own: no write waits for another. */
const floor: Pick<Approach, "increment"> = {
  increment: (db) => setDoc(doc(db, `floor/${db.app.name}`), { count: increment(1) }, { merge: true }),
};

/** What the writers' process can be told to do. */
export const WRITES = { ...APPROACHES, floor } as const;

/** The project of the approaches that are not Tally, and its rules. */
export const OTHERS_PROJECT = "demo-others";
export const OTHERS_RULES = `
rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents/{all=**} {
    allow read: if true;
    allow update: if request.resource.data.keys().hasOnly(['count'])
      && request.resource.data.count == resource.data.count + 1;
  }
}`;
