/**
 * Commits an increment: one merge into one shard, and with `once` one entry in the same commit. A replay does not count.
 *
 * If a connection is cut between the server's commit and its acknowledgement, the Firestore SDK sends the write again. The
 * rules refuse this replay because it adds no mark. The refusal arrives as `permission-denied`. One read of the shard then
 * tells a replay, whose mark is there, from an increment that the rules refuse.
 */
import {
  arrayUnion,
  Bytes,
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
import { removeOldMarks } from "./removeOldMarks.ts";
import { inTurn, type Turn } from "./turns.ts";

// For modules that only some apps use: each further import from the SDK makes every app larger.
export { doc, serverTimestamp, writeBatch };

/**
 * Makes an increment. With `once`, after the earlier calls with it.
 *
 * @param addOther - adds another write to the commit, given the path of the increment's shard
 */
export function makeIncrement(counter: Counter, by: number, once?: string, addOther?: AddWrite): Promise<Committed> {
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
  addOther?: AddWrite,
): Promise<Committed> {
  const outcome = commitWithRetries(counter, by, turn, undoneShard, addOther);
  counter._watcher?._track(by, outcome, turn?._once, !!undoneShard);
  return outcome;
}

type AddWrite = (writer: WriteBatch, path: string) => unknown;

async function commitWithRetries(
  counter: Counter,
  by: number,
  turn?: Turn,
  undoneShard?: string,
  addOther?: AddWrite,
): Promise<Committed> {
  const { _shardCountCache, _watcher } = counter;
  await refreshShardCount(counter);
  let plan!: IncrementPlan;
  // While one transaction commits, the SDK holds everything else back. So the shard is chosen here, when more is known.
  const add = (writer: WriteBatch) => {
    if (!plan) {
      plan = planFor(counter, by, turn?._once, undoneShard);
      _shardCountCache._requestSent();
    }
    addWrites(writer, counter, plan, undoneShard);
    addOther?.(writer, plan.path);
    return plan.path;
  };
  try {
    const { _latest } = counter;
    const isCalm = _latest?.get("growing") === false && !_shardCountCache._isContended();
    // The queue retries a contended write on the same shard, so a crowd must not meet there; it begins while a counter is new. But
    // the queue keeps the order of calls with `once`; and its writes are in the cache at once, where a watch finds the timestamps of
    // increments. An undo cannot choose its shard. A client that could not read the counter document may be offline.
    const isQueued = turn ? isCalm || undoneShard || !turn._isFirst || !_latest : _watcher?._isWatched() && isCalm;
    const _at = await send(counter, add, isQueued, turn).catch((error) =>
      confirmCommitted(counter, plan, error, undoneShard),
    );
    _shardCountCache._requestAnswered();
    return { _path: plan.path, _at: _at as Committed["_at"] };
  } catch (error) {
    const isRefused = hasCode(error, "aborted");
    _shardCountCache._requestAnswered(isRefused);
    if (!isRefused) throw error;
    // The refused write can no longer be committed, so another increment on another shard is safe.
    return commitWithRetries(counter, by, turn, undoneShard, addOther);
  }
}

/**
 * Sends writes, first in a transaction: if contention aborts it, the caller tries another shard, whereas the SDK's
 * queue would retry the same shard without end. If the transaction has no answer, the same write goes to the queue, which
 * works offline and survives a reload; both together count once.
 *
 * @param add - adds the writes when the SDK is free to commit them, the same in both. Returns the path of the increment's shard,
 *              if there is one
 * @param isQueued - whether they go to the queue at once
 * @returns the server's timestamp if it is at hand and a watch may need it; else nothing, or `false`
 */
export async function send(
  { firestore, _watcher }: Counter,
  add: (writer: WriteBatch) => string | undefined,
  isQueued?: unknown,
  turn?: Turn,
): Promise<unknown> {
  if (!isQueued && !isHiddenOrOffline()) {
    try {
      const commit = async (transaction: unknown) => add(transaction as WriteBatch);
      const path = await runTransaction(firestore, commit, { maxAttempts: 1 });
      turn?._sent();
      // The cache does not have the server's timestamp.
      return _watcher?._isWatched() && path && (await readFromServer(doc(firestore, path), LOOKUP_ATTEMPTS))?.get("at");
    } catch (error) {
      if (hasCode(error, "aborted") || hasCode(error, "permission-denied")) throw error;
    }
  }
  const batch = writeBatch(firestore);
  add(batch);
  turn?._sent();
  // Without its result: React Native Firebase resolves it to `null` on Android.
  await batch.commit();
  return undefined;
}

export function planFor(
  { firestore, path, _shardCountCache }: Counter,
  by: number,
  once?: string,
  undoneShard?: string,
): IncrementPlan {
  const shard = undoneShard ?? randomShard(_shardCountCache._shardsToChooseFrom(), Math.random);
  const plan = planIncrement(path, shard, by, Date.now(), Math.random, once);
  // Before the outcome is known, because a shard full of marks refuses every increment.
  if (Math.random() * INCREMENTS_PER_MARK_REMOVAL < 1) removeOldMarks(doc(firestore, plan.path)).catch(() => {});
  return plan;
}

/** Adds the writes of a planned increment to a batch or transaction. */
export function addWrites(w: WriteBatch, { firestore }: Counter, plan: IncrementPlan, undoneShard?: string): void {
  const { path, entry, shard, by, window, nonce } = plan;
  const at = serverTimestamp();
  const nonces = arrayUnion(Bytes.fromUint8Array(nonce));
  const entryDoc = entry && doc(firestore, entry);
  if (entryDoc && undoneShard) w.delete(entryDoc);
  else if (entryDoc) w.set(entryDoc, { once: entryDoc.id, by, shard, at });
  w.set(
    doc(firestore, path),
    { shard, count: increment(by), writes: increment(1), at, marks: { [window]: { at, nonces } } },
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
