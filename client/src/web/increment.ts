/** Increments: what apps call. `commit.ts` has how one is written. */
import { type DocumentSnapshot, doc, getDoc, Transaction, type WriteBatch } from "firebase/firestore";
import {
  CounterError,
  entryPath,
  type IncrementPlan,
  LOOKUP_ATTEMPTS,
  validIncrement,
  validName,
} from "../../../core/src/index.ts";
import { addWrites, commitIncrement, planFor } from "./commit.ts";
import { type Counter, type CounterRef, readFromServer, refreshShardCount } from "./counter.ts";

/** How an increment counts. */
export interface IncrementOptions {
  /**
   * Counts once for this key, however often it is asked for: "like once". The default rules want the user's uid here,
   * and accept it for the groups `likes` and `votes`. A document id: without `/`.
   */
  key?: string | undefined;
}

/**
 * Adds `by` to a counter. Resolves once the server has acknowledged it; offline, that is when the device is back
 * online. Never lost once acknowledged, and not counted twice when a cut connection makes the SDK send it again.
 *
 * With a `key`, the counter counts exactly once for that key: an entry named after it is created in the same commit.
 * If the key counts already, by this call or an earlier one with the same amount, that is success.
 *
 * Cost: 1 write; 2 and the 2 reads of the rules with a `key`. The first increment of a counter by this client also
 * reads the counter document before it writes (1 read, for a second at most), and so does the first in each two
 * minutes after that, and one in 20, unless `onCounter` is watching it. One increment in 128 is followed by 1 read and 1 write
 * that remove old marks. A refused write costs 1 more read, 2 with a
 * `key`, and so does one that met contention.
 *
 * @param by - a finite, non-zero number. The default rules accept 1 alone
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-key` before any I/O, or
 *         `counter/permission-denied` when the rules refuse it; other Firestore errors as they are
 *
 * @example
 * ```ts
 * await incrementCounter(counter(db, "views:home"));
 * await incrementCounter(counter(db, "likes:post42"), 1, { key: user.uid });
 * ```
 */
export async function incrementCounter(ref: CounterRef, by = 1, options?: IncrementOptions): Promise<void> {
  validIncrement(by, options?.key);
  await commitIncrement(ref as Counter, by, options?.key);
}

/**
 * Takes a keyed increment back: "unlike". Success, too, if the key does not count.
 *
 * Cost: 1 read; if the key counts, 1 write and 1 delete more, and the 2 reads of the rules.
 *
 * @param key - the key it was made with
 * @throws CounterError `counter/invalid-key` before any I/O, or `counter/permission-denied` when the rules refuse it;
 *         FirestoreError `unavailable` when offline and the entry is not in the cache
 *
 * @example
 * ```ts
 * await undoIncrement(counter(db, "likes:post42"), user.uid);
 * ```
 */
export async function undoIncrement(ref: CounterRef, key: string): Promise<void> {
  const counter = ref as Counter;
  const entry = doc(ref.firestore, entryPath(ref.path, validName("key", key)));
  // So that an increment made just before is known to the cache.
  await refreshShardCount(counter);
  const undo = (done: DocumentSnapshot) => commitIncrement(counter, -done.get("by"), key, done.get("shard"));
  const cached = await getDoc(entry);
  if (cached.exists()) {
    try {
      await undo(cached);
      return;
    } catch (error) {
      if ((error as CounterError).code !== "counter/permission-denied") throw error;
    }
  }
  // The cache was out of date: another device has undone the increment or made it again.
  const actual = await readFromServer(entry, LOOKUP_ATTEMPTS);
  if (actual?.exists()) await undo(actual);
}

/** An increment that was planned before the transaction that makes it. Counts once, however often the transaction runs. */
export interface PreparedIncrement {
  /** The counter it is for. */
  readonly ref: CounterRef;
}

interface Prepared extends PreparedIncrement {
  readonly _plan: IncrementPlan;
}

/**
 * Plans an increment for a transaction of yours: once, before the transaction, because the SDK runs a transaction again
 * when it does not know how the last run ended. Each prepared increment counts once.
 *
 * Cost: 1 read of the shard count if it is not known, and the removal of old marks, as for {@link incrementCounter}; the
 * commit's are the transaction's.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-key`
 *
 * @example
 * ```ts
 * const sale = prepareIncrement(counter(db, "sales:shoes"));
 * await runTransaction(db, async (transaction) => {
 *   transaction.set(doc(db, "orders", id), order);
 *   incrementCounterIn(transaction, sale);
 * });
 * ```
 */
export function prepareIncrement(ref: CounterRef, by = 1, options: IncrementOptions = {}): PreparedIncrement {
  validIncrement(by, options.key);
  refreshShardCount(ref as Counter);
  const prepared: Prepared = { ref, _plan: planFor(ref as Counter, by, options.key) };
  return prepared;
}

type Writer = WriteBatch | Transaction;

/**
 * Adds an increment to a batch or transaction of yours: the comment and its count are committed together or not at all.
 * One increment per counter and batch: add up what belongs together. For a transaction the increment is one that
 * {@link prepareIncrement} has planned before. The call sends nothing itself, but that one in 128 removes old marks.
 *
 * A watch shows it when it is published. If a cut connection makes the SDK send the batch again, the rules refuse the
 * whole batch, and `commit` rejects with `permission-denied` although the first attempt was committed: to tell, read a
 * document that the batch creates.
 *
 * Cost: 1 write of the batch, 2 and the 2 reads of the rules with a `key`.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-key`; `counter/invalid-option` for a transaction with an
 *         increment that was not prepared
 *
 * @example
 * ```ts
 * const batch = writeBatch(db);
 * batch.set(doc(db, "posts/42/comments", id), { text });
 * incrementCounterIn(batch, counter(db, "comments:42"));
 * await batch.commit();
 * ```
 */
export function incrementCounterIn(writer: WriteBatch, ref: CounterRef, by?: number, options?: IncrementOptions): void;
/**
 * Adds an increment that was prepared before to a transaction or batch of yours. No I/O of its own.
 *
 * Cost: 1 write of the transaction, 2 and the 2 reads of the rules with a `key`.
 *
 * @example
 * ```ts
 * const sale = prepareIncrement(counter(db, "sales:shoes"));
 * await runTransaction(db, async (transaction) => incrementCounterIn(transaction, sale));
 * ```
 */
export function incrementCounterIn(writer: WriteBatch | Transaction, prepared: PreparedIncrement): void;
export function incrementCounterIn(
  writer: Writer,
  what: CounterRef | PreparedIncrement,
  by?: number,
  options?: IncrementOptions,
): void {
  const isPrepared = "ref" in what;
  if (!isPrepared && writer instanceof Transaction)
    throw new CounterError(
      "counter/invalid-option",
      "a transaction may run twice; call prepareIncrement before it, and pass what that returns",
    );
  const { ref, _plan } = (isPrepared ? what : prepareIncrement(what, by, options)) as Prepared;
  addWrites(writer as WriteBatch, ref as Counter, _plan);
}
