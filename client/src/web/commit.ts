/**
 * Commits an increment: one merge into one shard, replay-proof; with a key, also one entry in the same commit.
 *
 * When a connection is cut between the server's commit and its acknowledgement, the Firestore SDK sends the write
 * again. The rules refuse the replay because it adds no mark; the refusal arrives as `permission-denied`, and one read
 * of the shard tells a refused replay (its mark or its entry is there: it counted) from a refused increment.
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
  hasCode,
  isHiddenOrOffline,
  readFromServer,
  refreshShardCount,
  rethrowUnlessDenied,
} from "./counter.ts";
import { removeOldMarks } from "./removeOldMarks.ts";

/**
 * Commits an increment. A watch of the counter shows it at once.
 *
 * @param undoneShard - of an undo, the shard that the entry names; the entry is deleted
 */
export function commitIncrement(counter: Counter, by: number, key?: string, undoneShard?: string): Promise<unknown> {
  const outcome = commitWithRetries(counter, by, key, undoneShard);
  counter._watcher?._track(by, outcome, key);
  return outcome;
}

async function commitWithRetries(counter: Counter, by: number, key?: string, undoneShard?: string): Promise<Committed> {
  const { _shardCountCache } = counter;
  await refreshShardCount(counter);
  const plan = planFor(counter, by, key, undoneShard);
  _shardCountCache._requestSent();
  try {
    const _at = await send(counter, plan, undoneShard).catch((error) =>
      confirmCommitted(counter, plan, error, undoneShard),
    );
    _shardCountCache._requestAnswered();
    return { _path: plan.path, _at: _at as Committed["_at"] };
  } catch (error) {
    const isRefused = hasCode(error, "aborted");
    _shardCountCache._requestAnswered(isRefused);
    if (!isRefused) throw error;
    // It is not committed, and never will be: the next try is another increment, on another shard.
    return commitWithRetries(counter, by, key, undoneShard);
  }
}

/**
 * Sends an increment. A commit of its own comes first: if contention aborts it, the caller tries another shard, while the
 * SDK's queue would retry the same one for ever. Without an answer, the same write goes to the queue, which works offline
 * and survives a reload; both count once. What the cache must show goes to the queue at once: entries, and increments of a
 * watched counter unless it is contended.
 */
async function send(counter: Counter, plan: IncrementPlan, undoneShard?: string): Promise<unknown> {
  const { firestore, _shardCountCache, _watcher } = counter;
  const isWatched = plan.entry || (_watcher && !_shardCountCache._isContended());
  if (!isWatched && !isHiddenOrOffline()) {
    try {
      await runTransaction(firestore, async (own) => addWrites(own as unknown as WriteBatch, counter, plan), {
        maxAttempts: 1,
      });
      // The cache does not have the server's timestamp.
      return _watcher && (await readFromServer(doc(firestore, plan.path), LOOKUP_ATTEMPTS))?.get("at");
    } catch (error) {
      if (hasCode(error, "aborted") || hasCode(error, "permission-denied")) throw error;
    }
  }
  const batch = writeBatch(firestore);
  addWrites(batch, counter, plan, undoneShard);
  return await batch.commit();
}

export function planFor(
  { firestore, path, _shardCountCache }: Counter,
  by: number,
  key?: string,
  undoneShard?: string,
): IncrementPlan {
  const shard = undoneShard ?? randomShard(_shardCountCache._shardsToChooseFrom(), Math.random);
  const plan = planIncrement(path, shard, by, Date.now(), Math.random, key);
  // Before the outcome is known: a shard that is full of marks refuses every increment.
  if (Math.random() * INCREMENTS_PER_MARK_REMOVAL < 1) removeOldMarks(doc(firestore, plan.path)).catch(() => {});
  return plan;
}

/** Puts a planned increment into a batch or transaction. */
export function addWrites(w: WriteBatch, { firestore }: Counter, plan: IncrementPlan, undoneShard?: string): void {
  const { path, entry, shard, by, window, nonce } = plan;
  const at = serverTimestamp();
  const nonces = arrayUnion(Bytes.fromUint8Array(nonce));
  if (entry && undoneShard) w.delete(doc(firestore, entry));
  else if (entry) w.set(doc(firestore, entry), { by, shard, at });
  w.set(
    doc(firestore, path),
    { shard, count: increment(by), writes: increment(1), at, marks: { [window]: { at, nonces } } },
    { merge: true },
  );
}

/**
 * Finds a refused write at the server: a replay is refused because its first attempt was committed, and a key because it
 * counts already. A browser may send a request again by itself, so contention may refuse a replay, too. Cost: 1 read, 2 with
 * a key.
 *
 * @returns the server's timestamp of the write, or of a later one; `null` if the key counted before
 * @throws CounterError `counter/permission-denied` if it does not count; it names the policy functions that may refuse it
 */
async function confirmCommitted(
  { firestore, id }: Counter,
  plan: IncrementPlan,
  cause: FirestoreError,
  undoneShard?: string,
): Promise<Timestamp | null> {
  const { path, by, window, nonce, entry } = plan;
  const isContended = hasCode(cause, "aborted");
  if (!isContended) rethrowUnlessDenied(cause);
  const shard = await readFromServer(doc(firestore, path), LOOKUP_ATTEMPTS);
  const mine = Bytes.fromUint8Array(nonce);
  if (shard?.get(`marks.${window}.nonces`)?.some((one: Bytes) => mine.isEqual(one))) return shard.get("at");
  if (isContended) throw cause;
  const counted = entry && !undoneShard && (await readFromServer(doc(firestore, entry), LOOKUP_ATTEMPTS))?.get("by");
  if (counted === by) return null;
  throw new CounterError(
    "counter/permission-denied",
    `firestore.rules refuse ${by} for "${id}"; ${
      counted
        ? `the key counts ${counted}, undo that first`
        : entry
          ? `the key must be the user's uid, isKeyed must name the group${undoneShard ? "" : ", isAllowedKeyedAmount must allow it"}`
          : "isAllowedAmount must allow it; if isKeyed names the group, pass { key: uid }"
    }`,
    cause,
  );
}
