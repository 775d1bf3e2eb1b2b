/**
 * Increments: one merge into one shard, replay-proof; with a key, also one entry in the same commit.
 *
 * When a connection is cut between the server's commit and its acknowledgement, the Firestore SDK sends the write
 * again. The rules refuse the replay because it adds no mark; the refusal arrives as `permission-denied`, and one read
 * of the shard tells a refused replay (its mark or its entry is there: it counted) from a refused increment.
 */
import {
  arrayUnion,
  Bytes,
  type DocumentSnapshot,
  doc,
  type FirestoreError,
  getDoc,
  increment,
  runTransaction,
  serverTimestamp,
  type Timestamp,
  Transaction,
  type WriteBatch,
  writeBatch,
} from "firebase/firestore";
import {
  CounterError,
  entryPath,
  type IncrementPlan,
  planIncrement,
  randomShard,
  validIncrement,
  validName,
} from "../../../core/src/index.ts";
import { ANSWERED, TIDY_EVERY } from "../timeouts.ts";
import {
  type Committed,
  type Counter,
  type CounterRef,
  isLeaving,
  knowSpread,
  readServer,
  unlessDenied,
} from "./counter.ts";
import { tidy } from "./tidy.ts";

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
 * that remove old marks. A refused write costs 1 more read, 2 with a `key`.
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
  await perform(ref as Counter, by, options?.key);
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
  await knowSpread(counter);
  const undo = (done: DocumentSnapshot) => perform(counter, -done.get("by"), key, done.get("shard"));
  const cached = await getDoc(entry);
  if (cached.exists()) {
    try {
      await undo(cached);
      return;
    } catch (error) {
      if ((error as CounterError).code !== "counter/permission-denied") throw error;
    }
  }
  // The cache was behind: another device has undone it, or done it anew.
  const actual = await readServer(entry, ANSWERED);
  if (actual?.exists()) await undo(actual);
}

/** An increment that was planned before the transaction that makes it. Counts once, in whatever run of it. */
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
 * Cost: 1 read of the shard count if it is not known, as for {@link incrementCounter}; the commit's are the transaction's.
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
  knowSpread(ref as Counter);
  const prepared: Prepared = { ref, _plan: planFor(ref as Counter, by, options.key) };
  return prepared;
}

type Writer = WriteBatch | Transaction;

/**
 * Adds an increment to a batch or transaction of yours: the comment and its count are committed together or not at all.
 * No I/O of its own. One increment per counter and batch: add up what belongs together. For a transaction the increment is
 * one that {@link prepareIncrement} has planned before.
 *
 * A watch shows it when it is published. If a cut connection makes the SDK send the batch again, the rules refuse all
 * of it, and `commit` rejects with `permission-denied` although the first attempt was committed: to tell, read a
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
  put(writer as WriteBatch, ref as Counter, _plan);
}

/**
 * Commits an increment. A watch of the counter shows it at once.
 *
 * @param undone - of an undo, the shard that the entry names; the entry is deleted
 */
function perform(counter: Counter, by: number, key?: string, undone?: string): Promise<unknown> {
  const outcome = commit(counter, by, key, undone);
  counter._watcher?._follow(by, outcome, key);
  return outcome;
}

async function commit(counter: Counter, by: number, key?: string, undone?: string): Promise<Committed> {
  const { firestore, _spread } = counter;
  await knowSpread(counter);
  const plan = planFor(counter, by, key, undone);
  _spread._sent();
  try {
    const _at = await send(counter, plan, undone).catch((error) => find(counter, plan, error, undone));
    _spread._answered();
    // What stands in the way of tidying, a later write removes.
    if (Math.random() * TIDY_EVERY < 1) tidy(doc(firestore, plan.path)).catch(() => {});
    return { _path: plan.path, _at: _at as Committed["_at"] };
  } catch (error) {
    const isRefused = (error as FirestoreError).code === "aborted";
    _spread._answered(isRefused);
    if (!isRefused) throw error;
    // Certain not to be committed, and never to be: the next try is another increment, on another shard.
    return commit(counter, by, key, undone);
  }
}

/**
 * Sends an increment. A commit of its own comes first: if contention aborts it, the caller tries another shard, while the
 * SDK's queue would retry the same one for ever. Without an answer, the same write goes to the queue, which works offline
 * and survives a reload; both count once. What the cache must show goes to the queue at once: entries, and increments of a
 * watched counter unless it is contended.
 */
async function send(counter: Counter, plan: IncrementPlan, undone?: string): Promise<unknown> {
  const { firestore, _spread, _watcher } = counter;
  const isWatched = plan.entry || (_watcher && !_spread._isContended());
  if (!isWatched && !isLeaving()) {
    try {
      return await runTransaction(firestore, async (own) => put(own as unknown as WriteBatch, counter, plan), {
        maxAttempts: 1,
      });
    } catch (error) {
      // Certain not to be committed.
      if (/^(aborted|permission-denied)$/.test((error as FirestoreError).code)) throw error;
    }
  }
  const batch = writeBatch(firestore);
  put(batch, counter, plan, undone);
  return await batch.commit();
}

function planFor({ path, _spread }: Counter, by: number, key?: string, undone?: string): IncrementPlan {
  const shard = undone ?? randomShard(_spread._width(), Math.random);
  return planIncrement(path, shard, by, Date.now(), Math.random, key);
}

/** Puts a planned increment into a batch or transaction. */
function put(w: WriteBatch, { firestore }: Counter, plan: IncrementPlan, undone?: string): void {
  const { path, entry, shard, by, window, nonce } = plan;
  const at = serverTimestamp();
  const nonces = arrayUnion(Bytes.fromUint8Array(nonce));
  if (entry && undone) w.delete(doc(firestore, entry));
  else if (entry) w.set(doc(firestore, entry), { by, shard, at });
  w.set(
    doc(firestore, path),
    { shard, count: increment(by), writes: increment(1), at, marks: { [window]: { at, nonces } } },
    { merge: true },
  );
}

/**
 * Finds a refused write at the server: a replay is refused because its first attempt was committed, and a key because it
 * counts already. Cost: 1 read, 2 with a key.
 *
 * @returns the server's timestamp of the write, or of a later one; `null` if the key had counted before
 * @throws CounterError `counter/permission-denied` if it does not count
 */
async function find(
  { firestore, id }: Counter,
  plan: IncrementPlan,
  cause: FirestoreError,
  undone?: string,
): Promise<Timestamp | null> {
  const { path, by, window, nonce, entry } = plan;
  unlessDenied(cause);
  const shard = await readServer(doc(firestore, path), ANSWERED);
  const mine = Bytes.fromUint8Array(nonce);
  if (shard?.get(`marks.${window}.nonces`)?.some((one: Bytes) => mine.isEqual(one))) return shard.get("at");
  if (entry && !undone && (await readServer(doc(firestore, entry), ANSWERED))?.get("by") === by) return null;
  throw new CounterError(
    "counter/permission-denied",
    `isAllowedAmount in firestore.rules denies ${by} for "${id}"`,
    cause,
  );
}
