/** The increments that apps call. `commit.ts` commits them. */
import { type DocumentSnapshot, doc, getDoc, getDocFromCache, Transaction, type WriteBatch } from "firebase/firestore";
import {
  CounterError,
  entryPath,
  type IncrementArguments,
  type IncrementPlan,
  LOOKUP_ATTEMPTS,
  validIncrement,
  validName,
} from "../../../core/src/index.ts";
import { commitIncrement, makeIncrement } from "./commit.ts";
import { type CounterRef, counterOf, readFromServer, refreshShardCount } from "./counter.ts";
import { inOrder, isUndone } from "./inOrder.ts";
import { addWrites, planFor } from "./writes.ts";

/** An undo that the rules refuse is made again if the server's entry differs from what the client knew. */
const MAX_UNDO_ATTEMPTS = 3;

/** Options of an increment. */
export interface IncrementOptions {
  /**
   * What the increment counts once for, however often the call is made: one like per user. The default rules accept a
   * `once` only in the groups `likes` and `votes`, where they require one: the user's uid. A document id, so without `/`. A `once` that is
   * `undefined` is refused, because without one each call counts.
   */
  once?: string;
}

/**
 * Adds `by` to a counter. Resolves when the server has acknowledged the increment; offline, when the device is online again.
 * An acknowledged increment is counted once. (The chance that two increments of a shard share a mark and one is lost is 1 in 18 billion, at one
 * write a second.) A replay within two minutes counts once. With `once`, it counts once however late the replay is.
 *
 * With `once`, the counter counts it exactly once: the same commit creates an entry with that id. If the `once`
 * already counts with the same amount, the call succeeds.
 *
 * While the counter is calm, the increment is _direct_: a write of the counter document, which then has it in its total. No function
 * runs. Otherwise it is a write of a shard, which the functions publish: if the document is closed, full or not read, if this client's
 * last writes were contended, if `onCounter` watches the counter with `via`, and in groups whose totals need a publish. A direct
 * increment that is refused because others have filled the document is made again, there or on a shard.
 *
 * While it commits an increment in a transaction, the SDK holds all other calls back: for some milliseconds; for seconds on a contended shard; for
 * some 15 s in a browser that has lost its network and does not know it. `disableNetwork` does not stop an increment that is in a
 * transaction. An increment goes to the SDK's queue instead, which sends it to the same document until it counts or is refused:
 * - always, while the page is hidden or offline;
 * - if it is direct, unless this call had to read the counter document or was refused there; but also then while another increment of
 *   this page is in a transaction, or if there are no functions;
 * - with `once`, on a shard, if the counter is neither new, growing nor contended; always, if this client has called with that `once`
 *   before, or if the counter document could not be read. Calls with the same `once` take effect in their order;
 * - without `once`, on a shard, if `onCounter` watches the counter and it is neither new, growing nor contended, or if this client has
 *   itself just filled the document.
 *
 * Cost: 1 write; with `once` 2 writes, and 2 reads by the rules. Also:
 * - direct: 1 read for each listener of the counter document;
 * - on a shard, without `once`: $5 to $6 per million on calm counters, for functions and publish;
 * - 1 read of the counter document: by this client's first increment (awaited for 8 s at most); by the first after two minutes and by one in
 *   20 (for 1 s at most), unless `onCounter` without `via` has delivered a total since; by the first in each second of contention. None is
 *   awaited while the page is hidden or offline;
 * - 1 read of the timestamp, while `onCounter` watches: by each increment on a shard of a new, growing or contended counter, and by one in 20
 *   of the others;
 * - contended: 1 read. Refused: 1 read, with `once` 2, on a shard 1 more.
 *
 * @param by - a number within ±2⁵³, not 0; 1 if it is left out. The default rules accept 1 alone
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-once` before any I/O, also for `undefined`;
 *         `counter/permission-denied` if the rules refuse it, with what to change; other errors of Firestore unchanged
 *
 * @example
 * ```ts
 * await incrementCounter(counter(db, "views:home"));
 * await incrementCounter(counter(db, "likes:post42"), 1, { once: user.uid });
 * ```
 */
export function incrementCounter(ref: CounterRef, by?: number, options?: IncrementOptions): Promise<void>;
export async function incrementCounter(ref: CounterRef, ...given: IncrementArguments): Promise<void> {
  const increment = validIncrement(given);
  await makeIncrement(counterOf(ref), ...increment);
}

/**
 * Undoes an increment with `once`, such as a like. Succeeds if it does not count. Waits until earlier calls with this `once` are
 * committed or in the SDK's queue. The undo of a direct increment is direct, too, or goes to shard 0 while the counter document is full
 * or closed. The undo of one on a shard is a write of that shard.
 *
 * Cost: 1 read unless the entry is in the cache; if it does not count, 1 more; if it does, 1 write and 1 delete, 2 reads by the rules, and what
 * {@link incrementCounter} reads of the counter document. If the rules refuse
 * it, 3 reads more for each of up to two other attempts.
 *
 * @param once - the `once` of the increment
 * @throws CounterError `counter/invalid-once` before any I/O; `counter/permission-denied` if the rules refuse the undo;
 *         FirestoreError `permission-denied` if this user may not read the entry, `unavailable` when offline and the entry is
 *         not in the cache
 *
 * @example
 * ```ts
 * await undoIncrement(counter(db, "likes:post42"), user.uid);
 * ```
 */
export async function undoIncrement(ref: CounterRef, once: string): Promise<void> {
  const counter = counterOf(ref);
  const entry = doc(counter.firestore, entryPath(counter.path, validName("once", once)));
  await inOrder(counter, once, false, async (ordered) => {
    // The server's entry follows if it differs.
    let found: DocumentSnapshot | undefined = await getDocFromCache(entry).catch(() => undefined);
    // An entry that a transaction has created is not in the cache.
    if (!found?.exists()) found = await getDoc(entry);
    for (let attempt = 1; ; attempt++) {
      try {
        const by = found.get("by");
        ordered._isTake = by < 0;
        const [_undoneShard, _undoneAt] = [found.get("shard"), found.get("at")];
        if (found.exists())
          return await commitIncrement(counter, { _by: -by, _ordered: ordered, _undoneShard, _undoneAt });
      } catch (error) {
        if ((error as CounterError).code !== "counter/permission-denied" || attempt === MAX_UNDO_ATTEMPTS) throw error;
      }
      // Before a read that may last until the device is online.
      ordered._isTake = false;
      ordered._markSent();
      // The cache has no entry or an old one: another device, or an undo that was pending, has changed it.
      found = await readFromServer(entry, LOOKUP_ATTEMPTS);
      // A later increment with this `once` is to count. A later undo may have found nothing, because this one was pending.
      if (!found?.exists() || !isUndone(counter, once)) return;
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
 * Cost: 1 read of the shard count if it is not known. The writes
 * belong to the transaction.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-once`
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
  const [_by, _once] = validIncrement(given);
  const counter = counterOf(ref);
  refreshShardCount(counter);
  const prepared: Prepared = { ref: counter._ref, _plan: planFor(counter, { _by, _once }) };
  return prepared;
}

type Writer = WriteBatch | Transaction;

/**
 * Rules may look at 20 documents for a batch (https://firebase.google.com/docs/firestore/quotas#security_rules). An increment with
 * `once` takes 3 of them if its counter exists.
 */
const MAX_ONCE = 6;

/** What increments a batch or a run of a transaction has. */
const contents = new WeakMap<Writer, { readonly paths: Set<string>; withOnce: number }>();

/**
 * Adds an increment to your own batch: a comment and its count are committed together or not at all. A batch takes one increment
 * per counter, and six with `once`: Firestore refuses a batch for which the rules look at more than 20 documents. For a
 * transaction, pass a prepared increment from {@link prepareIncrement}. The call sends nothing, but it may read the shard count.
 *
 * Watches show the increment when it is published. If the SDK sends the batch again after a cut connection, the rules refuse
 * the whole replay, and `commit` rejects with `permission-denied` although the first attempt was committed. To find out, read
 * a document that the batch creates.
 *
 * Cost: 1 write of the batch, always of a shard, so the functions run; with `once` 2 writes, and 2 reads by the rules.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-once`; `counter/invalid-batch` if the batch has an increment of
 *         this counter, or six with `once`; `counter/invalid-option` for a transaction and an increment that was not prepared
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
 * `once`.
 *
 * Cost: 1 write of the transaction; with `once` 2 writes, and 2 reads by the rules.
 *
 * @throws CounterError `counter/invalid-batch` if the transaction has an increment of this counter, or six with `once`
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
  const once = isPrepared ? isPrepared.entry : validIncrement(given)[1];
  const { path } = counterOf(isPrepared ? (what as Prepared).ref : (what as CounterRef));
  const found = contents.get(writer) ?? { paths: new Set(), withOnce: 0 };
  const isFull = once !== undefined && found.withOnce === MAX_ONCE;
  if (isFull || found.paths.has(path))
    throw new CounterError(
      "counter/invalid-batch",
      isFull
        ? `the rules may look at 20 documents for a batch, enough for ${MAX_ONCE} increments with once; commit the others in a second batch`
        : `the batch has an increment of ${path}, and the rules refuse two on the same shard; commit the other in a second batch`,
    );
  const { ref, _plan } = (isPrepared ? what : prepareIncrement(what as CounterRef, ...given)) as Prepared;
  addWrites(writer as WriteBatch, counterOf(ref), _plan);
  found.paths.add(path);
  if (once !== undefined) found.withOnce++;
  contents.set(writer, found);
}
