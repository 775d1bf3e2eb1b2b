/**
 * Undoes or moves all that was counted once for something, in all counters: an account that is deleted, or merged with another one.
 *
 * A query over all collections `tallyEntries` finds the entries, by their field `once`. Each entry is then changed in a commit of its
 * own, on the precondition that it is as it was read. So a call can be interrupted and repeated, clients may count at the same
 * time, and after each commit an entry exists if and only if its increment counts.
 */
import type {
  DocumentReference,
  DocumentSnapshot,
  Firestore,
  Query,
  QueryDocumentSnapshot,
} from "firebase-admin/firestore";
import { CounterError, DEFAULT_COLLECTION, ENTRIES, isPreconditionFailure, validName } from "../../core/src/index.ts";
import { retry, unchanged } from "../../firestore/src/index.ts";
import { type Counter, firestoreOf, newCounter } from "./counter.ts";
import { undoEntry } from "./increment.ts";

/** Options of {@link undoIncrementsOf} and {@link moveIncrements}. */
export interface AccountIncrementsOptions {
  /** The collection that holds the counters. Default `"counters"`. */
  collection?: string | undefined;
  /**
   * Called after each entry, with the number done so far and the number at the start. An error that it throws ends the call. Cost: 1 read
   * per 1,000 entries.
   */
  onProgress?: ((done: number, entries: number) => void) | undefined;
}

/** What {@link moveIncrements} has done. */
export interface MovedIncrements {
  /** How many entries the new `once` has received. No total has changed by them. */
  readonly moved: number;
  /** How many entries were undone, because the new `once` had one in the same counter. */
  readonly undone: number;
}

/** How many entries are listed at a time, and changed at the same time. They are of different counters. */
const PAGE = 50;

/**
 * Undoes all that was counted with a `once` in the counters of a collection: for an account that is deleted. Increments are subtracted,
 * and the units of takes are given back. The call can be repeated, and continues where it was interrupted. What is counted with it
 * during the call may stay, so delete the account first, and call it again after an hour, when the last ID token has expired.
 *
 * An entry that cannot be undone does not stop the others. The first error is thrown at the end.
 *
 * Cost: 2 reads, 1 write and 1 delete per entry; 1 read less for a take. 1 read if there is none. On Firestore's Enterprise
 * edition, each 50 entries also scan those of all counters, 43 read units per 1,000, unless the collection group `tallyEntries` has an index
 * of `once` and `__name__`.
 *
 * @param once - the uid of the account, or whatever else increments counted once for
 * @returns how many entries the call has found
 * @throws CounterError `counter/invalid-once`, `counter/invalid-collection`, `counter/invalid-reference` before any I/O;
 *         `counter/bounded` if a server has restocked a bounded counter under this `once`; FAILED_PRECONDITION of Firestore without
 *         the index of `firestore.indexes.json`
 *
 * @example
 * ```ts
 * await undoIncrementsOf(db, user.uid);
 * ```
 */
export async function undoIncrementsOf(
  firestore: Firestore,
  once: string,
  options: AccountIncrementsOptions = {},
): Promise<number> {
  return (await forEachEntry(firestore, once, options, undo)).length;
}

/**
 * Moves all that was counted with a `once` to another one: for an anonymous account that is merged with a permanent one. Each entry gets the
 * new `once`, with its amount and its shard, so that no total changes and the new account can undo it. If the new `once` has an entry in the same
 * counter, that one stays and the old one is undone: the account counts once.
 *
 * The call can be repeated, and continues where it was interrupted. Both accounts may count during the call. What is counted with the old one
 * then may stay; the next call moves it.
 *
 * An entry that cannot be moved does not stop the others. The first error is thrown at the end.
 *
 * Cost: 1 read, 1 write and 1 delete per entry; 3 reads if it is undone, 2 for a take. 1 read if there is none. On Firestore's
 * Enterprise edition as for {@link undoIncrementsOf}.
 *
 * @throws CounterError `counter/invalid-once`, also if both are the same; others as for {@link undoIncrementsOf}
 *
 * @example
 * ```ts
 * await moveIncrements(db, anonymousUid, user.uid);
 * ```
 */
export async function moveIncrements(
  firestore: Firestore,
  fromOnce: string,
  toOnce: string,
  options: AccountIncrementsOptions = {},
): Promise<MovedIncrements> {
  if (validName("once", fromOnce) === validName("once", toOnce))
    throw new CounterError("counter/invalid-once", `both are "${toOnce}"; pass the old one, then the new one`);
  const done = await forEachEntry(firestore, fromOnce, options, (counter, entry) => move(counter, entry, toOnce));
  const moved = done.filter((outcome) => outcome === "moved").length;
  return { moved, undone: done.length - moved };
}

type Outcome = "moved" | "undone";

/** Undoes an entry, also if it was replaced since it was listed. */
async function undo(counter: Counter, entry: DocumentSnapshot): Promise<Outcome> {
  let current = entry;
  while (current.exists && !(await undoEntry(counter, current))) current = await read(entry.ref);
  return "undone";
}

/** Moves an entry, or undoes it if the new `once` has one, also if it was replaced since it was listed. */
async function move(counter: Counter, entry: DocumentSnapshot, once: string): Promise<Outcome> {
  const target = entry.ref.parent.doc(once);
  let current = entry;
  while (current.exists) {
    if (await rename(counter, current, target)) return "moved";
    if ((await read(target)).exists && (await undoEntry(counter, current))) return "undone";
    current = await read(entry.ref);
  }
  // An attempt without an answer was committed, or the old account has undone it.
  return "moved";
}

/** @returns `false` if the entry is not as it was read, or the new `once` has one; then nothing was written */
async function rename({ firestore }: Counter, entry: DocumentSnapshot, target: DocumentReference): Promise<boolean> {
  try {
    await retry(() => {
      const batch = firestore.batch();
      batch.delete(entry.ref, unchanged(entry));
      batch.create(target, { ...entry.data(), once: target.id });
      return batch.commit();
    });
    return true;
  } catch (error) {
    if (isPreconditionFailure(error)) return false;
    throw error;
  }
}

/** @returns what became of each entry */
async function forEachEntry(
  firestore: Firestore,
  once: string,
  { collection = DEFAULT_COLLECTION, onProgress }: AccountIncrementsOptions,
  change: (counter: Counter, entry: DocumentSnapshot) => Promise<Outcome>,
): Promise<Outcome[]> {
  validName("collection", collection);
  const all = firestoreOf({ firestore }).collectionGroup(ENTRIES).where("once", "==", validName("once", once));
  const entries = onProgress ? (await retry(() => all.count().get())).data().count : 0;
  const done: Outcome[] = [];
  const failures: unknown[] = [];
  const first = all.orderBy("__name__").limit(PAGE);
  for (let docs: QueryDocumentSnapshot[] | undefined; !docs || docs.length === PAGE; ) {
    const page: Query = docs ? first.startAfter(docs.at(-1)) : first;
    docs = (await retry(() => page.get())).docs;
    const own = docs.filter(({ ref }) => isEntryOf(ref, once, collection));
    const changes = own.map((entry) => {
      const { id } = entry.ref.parent.parent as DocumentReference;
      return change(newCounter(firestore, id, collection), entry);
    });
    for (const outcome of await Promise.allSettled(changes)) {
      if (outcome.status === "rejected") {
        failures.push(outcome.reason);
        continue;
      }
      done.push(outcome.value);
      onProgress?.(done.length, entries);
    }
  }
  if (failures.length > 0) throw failures[0];
  return done;
}

/** Whether a document is the entry of a `once` in a counter of this collection. The app may have collections `tallyEntries` of its own. */
function isEntryOf({ id, parent }: DocumentReference, once: string, collection: string): boolean {
  return id === once && parent.parent?.parent.path === collection;
}

function read(document: DocumentReference): Promise<DocumentSnapshot> {
  return retry(() => document.get());
}
