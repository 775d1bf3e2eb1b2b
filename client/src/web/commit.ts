/**
 * Commits an increment: one merge into one shard, and with `once` one entry in the same commit. A replay does not count.
 *
 * If a connection is cut between the server's commit and its acknowledgement, the Firestore SDK sends the write again. The
 * rules refuse this replay because it adds no mark. The refusal arrives as `permission-denied`. One read of the shard then
 * tells a replay, whose mark is there, from an increment that the rules refuse.
 *
 * An increment in a transaction of its own also removes a window of marks that has expired by this device's clock. If the clock is
 * wrong, the rules refuse the write; it is then made again without the removal. Writes in the SDK's queue may be sent hours later, so
 * they remove nothing.
 */
import {
  arrayUnion,
  Bytes,
  deleteField,
  doc,
  type FirestoreError,
  increment,
  runTransaction,
  serverTimestamp,
  type Timestamp,
  type WriteBatch,
  writeBatch,
} from "firebase/firestore";
import {
  CounterError,
  INCREMENTS_PER_MARK_REMOVAL,
  type IncrementPlan,
  LOOKUP_ATTEMPTS,
  MARK_WINDOW_MILLIS,
  MARK_WINDOWS,
  planIncrement,
  randomShard,
} from "../../../core/src/index.ts";
import {
  type Committed,
  type Counter,
  counterDoc,
  hasCode,
  isHiddenOrOffline,
  readFromServer,
  refreshShardCount,
  rethrowUnlessDenied,
} from "./counter.ts";
import { inTurn, type Turn } from "./turns.ts";
import { goesToQueue } from "./way.ts";

// For modules that only some apps use: each further import from the SDK makes every app larger.
export { doc, serverTimestamp, writeBatch };

/**
 * Makes an increment. With `once`, after the earlier calls with it.
 *
 * @param addOther - adds another write to the commit, given the path of the increment's shard
 */
export function makeIncrement(counter: Counter, by: number, once?: string, addOther?: AddOther): Promise<Committed> {
  // First, because it refuses what is no reference.
  counterDoc(counter);
  const commit = (turn?: Turn) => commitIncrement(counter, by, turn, undefined, addOther);
  return once ? inTurn(counter, once, true, commit) : commit();
}

/**
 * Commits an increment, and shows it at once in watches of the counter.
 *
 * @param undoneShard - for an undo, the shard that the entry names; the commit deletes the entry
 */
export function commitIncrement(
  counter: Counter,
  by: number,
  turn?: Turn,
  undoneShard?: string,
  addOther?: AddOther,
): Promise<Committed> {
  const outcome = commitWithRetries(counter, by, turn, undoneShard, addOther);
  counter._watcher?._track(by, outcome, turn?._once, !!undoneShard);
  return outcome;
}

type AddOther = (writer: WriteBatch, path: string) => unknown;

async function commitWithRetries(
  counter: Counter,
  by: number,
  turn?: Turn,
  undoneShard?: string,
  addOther?: AddOther,
): Promise<Committed> {
  const { _shardCountCache, _watcher } = counter;
  await refreshShardCount(counter);
  let plan!: IncrementPlan;
  // While one transaction commits, the SDK holds everything else back. So the shard is chosen here, when more is known.
  const add: AddWrites = (writer, removesMarks) => {
    if (!plan) {
      plan = planFor(counter, by, turn?._once, undoneShard);
      _shardCountCache._writeSent();
    }
    addWrites(writer, counter, plan, undoneShard, removesMarks);
    addOther?.(writer, plan.path);
    return plan.path;
  };
  try {
    const { _latest } = counter;
    const isQueued = goesToQueue({
      _once: turn && (turn._isFirst ? "first" : "later"),
      _isUndo: !!undoneShard,
      _isWatched: !!_watcher?._isWatched(),
      _isRead: !!_latest,
      // Some increments are made as if it were not calm, because transactions also remove marks.
      _isCalm:
        _latest?.get("growing") === false &&
        !_shardCountCache._isContended() &&
        Math.random() * INCREMENTS_PER_MARK_REMOVAL > 1,
    });
    const _at = await send(counter, add, isQueued, turn)
      // Where a shard is full of expired marks, the rules accept a write that removes some. Calls with `once` keep their order.
      .catch((error) => {
        if (!isQueued || turn) throw error;
        return send(counter, add, false, turn);
      })
      .catch((error) => confirmCommitted(counter, plan, error, undoneShard));
    _shardCountCache._writeAnswered();
    return { _path: plan.path, _at: _at as Committed["_at"] };
  } catch (error) {
    const isRefused = hasCode(error, "aborted");
    _shardCountCache._writeAnswered(isRefused);
    if (!isRefused) throw error;
    // The refused write can no longer be committed, so another increment on another shard is safe.
    return commitWithRetries(counter, by, turn, undoneShard, addOther);
  }
}

/** Adds the writes of an increment. Returns the path of its shard, if there is one. */
type AddWrites = (writer: WriteBatch, removesMarks?: boolean) => string | undefined;

/**
 * Sends writes, first in a transaction: if contention aborts it, the caller tries another shard, whereas the SDK's
 * queue would retry the same shard without end. If the transaction has no answer, the same write goes to the queue, which
 * works offline and survives a reload; both together count once.
 *
 * @param add - adds the writes when the SDK is free to commit them, the same in both
 * @param isQueued - whether they go to the queue at once
 * @returns the server's timestamp if it is at hand and a watch may need it; else nothing, or `false`
 */
export async function send(counter: Counter, add: AddWrites, isQueued?: unknown, turn?: Turn): Promise<unknown> {
  const { firestore, _watcher } = counter;
  if (!isQueued && !isHiddenOrOffline()) {
    const committed = await commitInTransaction(counter, add).catch((error) => {
      if (hasCode(error, "aborted") || hasCode(error, "permission-denied")) throw error;
    });
    if (committed) {
      turn?._sent();
      // The cache does not have the server's timestamp.
      const written = _watcher?._isWatched() && committed._path && doc(firestore, committed._path);
      return written && (await readFromServer(written, LOOKUP_ATTEMPTS).catch(() => undefined))?.get("at");
    }
  }
  const batch = writeBatch(firestore);
  add(batch);
  turn?._sent();
  // Without its result: React Native Firebase resolves it to `null` on Android.
  await batch.commit();
  return undefined;
}

/** Until when this client removes no marks of a counter, by `performance.now()`. */
const keepsMarksUntil = new WeakMap<Counter, number>();

/**
 * Commits writes in a transaction that also removes the expired window of the shard. If the rules refuse that, a clock is wrong, or
 * another client has just begun the window. The same writes are then committed without the removal, and this client removes none of
 * the counter's marks for some minutes.
 */
async function commitInTransaction(counter: Counter, add: AddWrites): Promise<{ _path: string | undefined }> {
  const commit = (removesMarks: boolean) =>
    runTransaction(counter.firestore, async (own) => ({ _path: add(own as unknown as WriteBatch, removesMarks) }), {
      maxAttempts: 1,
    });
  const removesMarks = !(performance.now() < (keepsMarksUntil.get(counter) as number));
  return await commit(removesMarks).catch(async (error) => {
    if (!removesMarks || !hasCode(error, "permission-denied")) throw error;
    const accepted = await commit(false);
    keepsMarksUntil.set(counter, performance.now() + MARK_WINDOWS * MARK_WINDOW_MILLIS);
    return accepted;
  });
}

export function planFor(
  { path, _shardCountCache }: Counter,
  by: number,
  once?: string,
  undoneShard?: string,
): IncrementPlan {
  const shard = undoneShard ?? randomShard(_shardCountCache._shardsToChooseFrom(), Math.random);
  return planIncrement(path, shard, by, Date.now(), Math.random, once);
}

/** Adds the writes of a planned increment to a batch or transaction. */
export function addWrites(
  w: WriteBatch,
  { firestore }: Counter,
  plan: IncrementPlan,
  undoneShard?: string,
  removesMarks?: boolean,
): void {
  const { path, entry, shard, by, window, expired, nonce } = plan;
  const at = serverTimestamp();
  const nonces = arrayUnion(Bytes.fromUint8Array(nonce));
  const entryDoc = entry && doc(firestore, entry);
  if (entryDoc && undoneShard) w.delete(entryDoc);
  else if (entryDoc) w.set(entryDoc, { once: entryDoc.id, by, shard, at });
  w.set(
    doc(firestore, path),
    {
      shard,
      count: increment(by),
      writes: increment(1),
      at,
      marks: { [window]: { at, nonces }, ...(removesMarks && { [expired]: deleteField() }) },
    },
    { merge: true },
  );
}

/**
 * Looks up whether a refused write counts: a replay was committed by its first attempt, and a `once` may count already. Browsers
 * repeat requests, too, so contention can refuse a replay. Cost: 1 read, 2 for a refused increment with `once`.
 *
 * @returns the server's timestamp of the write or of a later one; `null` if it had counted before
 * @throws CounterError `counter/permission-denied` if it does not count; the message says why that may be
 */
async function confirmCommitted(
  { firestore, id }: Counter,
  plan: IncrementPlan,
  cause: FirestoreError,
  undoneShard?: string,
): Promise<Timestamp | null> {
  const isContended = hasCode(cause, "aborted");
  if (!isContended) rethrowUnlessDenied(cause);
  const { path, by, window, nonce, entry } = plan;
  const shard = await readFromServer(doc(firestore, path), LOOKUP_ATTEMPTS);
  const marks: Bytes[] | undefined = shard?.get(`marks.${window}.nonces`);
  if (marks?.some((one) => one.isEqual(Bytes.fromUint8Array(nonce)))) return shard?.get("at");
  if (isContended) throw cause;
  const own = entry && !undoneShard ? await readFromServer(doc(firestore, entry), LOOKUP_ATTEMPTS) : undefined;
  const counted = own?.get("by");
  if (counted === by) return null;
  const why = await import("./whyRefused.ts").then(
    ({ whyRefused }) => whyRefused(by, shard, marks?.length ?? 0, entry && (undoneShard ? "undo" : "increment"), own),
    () => "see its policy",
  );
  throw new CounterError("counter/permission-denied", `firestore.rules refuse ${by} for "${id}"; ${why}`, cause);
}
