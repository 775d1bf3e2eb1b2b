/** The increments that apps call. `commit.ts` commits them. */
import { type DocumentSnapshot, doc, getDoc, Transaction, type WriteBatch } from "firebase/firestore";
import {
  CounterError,
  entryPath,
  type IncrementArguments,
  type IncrementPlan,
  LOOKUP_ATTEMPTS,
  validIncrement,
  validName,
} from "../../../core/src/index.ts";
import { addWrites, commitIncrement, makeIncrement, planFor } from "./commit.ts";
import { type Counter, type CounterRef, counterDoc, readFromServer, refreshShardCount } from "./counter.ts";
import { inTurn } from "./turns.ts";

/** An undo that the rules refuse is made again if the server's entry differs from what the client knew. */
const MAX_UNDO_ATTEMPTS = 3;

/** Options of an increment. */
export interface IncrementOptions {
  /**
   * The counter counts once for this key, however often the call is made: one like per user. The default rules accept a
   * key only in the groups `likes` and `votes`, where they require one: the user's uid. A document id, so without `/`. A key that is
   * `undefined` is refused, because without one each call counts.
   */
  key?: string;
}

/**
 * Adds `by` to a counter. Resolves when the server has acknowledged the increment; offline, when the device is online again.
 * An acknowledged increment is never lost, but for 1 in 286 million at one write a second per shard, whose random mark another one
 * has. It does not count twice if the SDK sends it again within two minutes, after a cut connection say; with a `key`, never.
 *
 * With a `key`, the counter counts exactly once for that key: the same commit creates an entry with that id. If the key
 * already counts with the same amount, the call succeeds.
 *
 * While it commits an increment, the SDK holds all other calls back: for some milliseconds; for seconds on a contended shard; for
 * some 15 s in a browser that has lost its network and does not know it. `disableNetwork` does not stop it. An increment goes to the
 * SDK's queue instead, which sends it to the same shard until it counts:
 * - always, while the page is hidden or offline;
 * - with a `key`, if the counter is neither new, growing nor contended, if this client has called with that key before, or if the
 *   counter document could not be read. Calls with the same `key` take effect in their order;
 * - without a `key`, if `onCounter` watches the counter and it is neither new, growing nor contended.
 *
 * Cost: 1 write; with a `key` 2 writes, and 2 reads by the rules. The first increment of a counter by this client first reads
 * the counter document (1 read, awaited for a second at most). So do the first increment after two minutes and one in 20,
 * unless `onCounter` has delivered a total since, without `via`; and the first in each second of contention. While `onCounter` watches a counter that is new, growing or
 * contended, each increment reads its timestamp (1 read). One in 128 adds 1 read and 1 write, which remove old marks. A contended write
 * costs 1 more read; a refused one 1, or 2 with a `key`.
 *
 * @param by - a number within ±2⁵³, not 0; 1 if it is left out. The default rules accept 1 alone
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-key` before any I/O, also for `undefined`;
 *         `counter/permission-denied` if the rules refuse it, with what to change; other errors of Firestore unchanged
 *
 * @example
 * ```ts
 * await incrementCounter(counter(db, "views:home"));
 * await incrementCounter(counter(db, "likes:post42"), 1, { key: user.uid });
 * ```
 */
export function incrementCounter(ref: CounterRef, by?: number, options?: IncrementOptions): Promise<void>;
export async function incrementCounter(ref: CounterRef, ...given: IncrementArguments): Promise<void> {
  await makeIncrement(ref as Counter, ...validIncrement(given));
}

/**
 * Undoes a keyed increment, such as a like. Succeeds if the key does not count. Waits until earlier calls with this key are
 * committed or in the SDK's queue.
 *
 * Cost: 1 read; if the key does not count, 1 more; if it does, 1 write and 1 delete, 2 reads by the rules, and what
 * {@link incrementCounter} reads of the counter document. If the rules refuse
 * it, 3 reads more for each of up to two other attempts.
 *
 * @param key - the key of the increment
 * @throws CounterError `counter/invalid-key` before any I/O; `counter/permission-denied` if the rules refuse the undo;
 *         FirestoreError `permission-denied` if this user may not read the entry, `unavailable` when offline and the entry is
 *         not in the cache
 *
 * @example
 * ```ts
 * await undoIncrement(counter(db, "likes:post42"), user.uid);
 * ```
 */
export async function undoIncrement(ref: CounterRef, key: string): Promise<void> {
  const counter = ref as Counter;
  counterDoc(ref);
  const entry = doc(ref.firestore, entryPath(ref.path, validName("key", key)));
  await inTurn(counter, key, false, async (turn) => {
    let found: DocumentSnapshot | undefined = await getDoc(entry);
    for (let attempt = 1; ; attempt++) {
      try {
        const by = found.get("by");
        // A take does not wait in the SDK's queue, so it waits here until its undo is committed.
        const own = by < 0 ? { ...turn, _sent() {} } : turn;
        if (found.exists()) return await commitIncrement(counter, -by, own, found.get("shard"));
      } catch (error) {
        if ((error as CounterError).code !== "counter/permission-denied" || attempt === MAX_UNDO_ATTEMPTS) throw error;
      }
      // Before a read that may last until the device is online.
      turn._sent();
      // The cache has no entry or an old one: another device, or an undo that was pending, has changed it.
      found = await readFromServer(entry, LOOKUP_ATTEMPTS);
      // A later increment with this key is to count. A later undo may have found nothing, because this one was pending.
      if (!found?.exists() || !turn._isUndone()) return;
    }
  });
}

/** An increment that was planned before the transaction that makes it. Counts once, however often the transaction runs. */
export interface PreparedIncrement {
  /** The counter. */
  readonly ref: CounterRef;
}

interface Prepared extends PreparedIncrement {
  readonly _plan: IncrementPlan;
}

/**
 * Plans an increment for your own transaction. Call it before the transaction: the SDK runs a transaction again if it does
 * not know the outcome of the last run. Each prepared increment counts once. If the last run was committed, the rules refuse the
 * next one, and `runTransaction` rejects with `permission-denied`. To find out, read a document that the transaction creates.
 *
 * Cost: 1 read of the shard count if it is not known, and the removal of old marks, as for {@link incrementCounter}. The writes
 * belong to the transaction.
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
export function prepareIncrement(ref: CounterRef, by?: number, options?: IncrementOptions): PreparedIncrement;
export function prepareIncrement(ref: CounterRef, ...given: IncrementArguments): PreparedIncrement {
  const increment = validIncrement(given);
  refreshShardCount(ref as Counter);
  const prepared: Prepared = { ref, _plan: planFor(ref as Counter, ...increment) };
  return prepared;
}

type Writer = WriteBatch | Transaction;

/**
 * Rules may look at 20 documents for a batch (https://firebase.google.com/docs/firestore/quotas#security_rules). An increment with a
 * key takes 3 of them if its counter exists.
 */
const MAX_KEYED = 6;

/** What increments a batch or a run of a transaction has. */
const contents = new WeakMap<Writer, { readonly paths: Set<string>; keyed: number }>();

/**
 * Adds an increment to your own batch: a comment and its count are committed together or not at all. A batch takes one increment
 * per counter, and six with a `key`: Firestore refuses a batch for which the rules look at more than 20 documents. For a
 * transaction, pass a prepared increment from {@link prepareIncrement}. The call sends nothing, but it may read the shard count, and
 * one in 128 removes old marks.
 *
 * Watches show the increment when it is published. If the SDK sends the batch again after a cut connection, the rules refuse
 * the whole replay, and `commit` rejects with `permission-denied` although the first attempt was committed. To find out, read
 * a document that the batch creates.
 *
 * Cost: 1 write of the batch; with a `key` 2 writes, and 2 reads by the rules.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-key`; `counter/invalid-batch` if the batch has an increment of
 *         this counter, or six with a key; `counter/invalid-option` for a transaction and an increment that was not prepared
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
 * Adds a prepared increment to your own transaction or batch. No I/O. A transaction takes one increment per counter, and six with
 * a `key`.
 *
 * Cost: 1 write of the transaction; with a `key` 2 writes, and 2 reads by the rules.
 *
 * @throws CounterError `counter/invalid-batch` if the transaction has an increment of this counter, or six with a key
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
  ...given: IncrementArguments
): void {
  const isPrepared = (what as Prepared)?._plan;
  if (!isPrepared && writer instanceof Transaction)
    throw new CounterError(
      "counter/invalid-option",
      "a transaction may run twice; call prepareIncrement before it, and pass its result",
    );
  const key = isPrepared ? isPrepared.entry : validIncrement(given)[1];
  const { path } = counterDoc((isPrepared ? (what as Prepared).ref : what) as Counter);
  const found = contents.get(writer) ?? { paths: new Set(), keyed: 0 };
  const isFull = key !== undefined && found.keyed === MAX_KEYED;
  if (isFull || found.paths.has(path))
    throw new CounterError(
      "counter/invalid-batch",
      isFull
        ? `the rules may look at 20 documents for a batch, enough for ${MAX_KEYED} increments with a key; commit the others in a second batch`
        : `the batch has an increment of ${path}, and the rules refuse two on the same shard; commit the other in a second batch`,
    );
  const { ref, _plan } = (isPrepared ? what : prepareIncrement(what as CounterRef, ...given)) as Prepared;
  addWrites(writer as WriteBatch, ref as Counter, _plan);
  found.paths.add(path);
  if (key !== undefined) found.keyed++;
  contents.set(writer, found);
}
