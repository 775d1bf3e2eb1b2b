/**
 * One increment: one merge into one shard, replay-proof.
 *
 * When a connection is cut between the server's commit and its acknowledgement, the Firestore SDK sends the write
 * again. The rules refuse the replay because it changes no mark; the refusal reaches us as `permission-denied`, and
 * one read of the shard tells a refused replay (our mark is there: it counted) from a refused increment.
 */
import { doc, type FirestoreError, increment, runTransaction, serverTimestamp, setDoc } from "firebase/firestore";
import {
  CounterError,
  type IncrementPlan,
  isCommitted,
  planIncrement,
  randomShard,
  shardForKey,
  validAmount,
  validShardKey,
} from "../../core/src/index.ts";
import type { CounterRef } from "./counter.ts";
import { refreshSpread, spreadForWrite } from "./knowledge.ts";

export interface IncrementOptions {
  /** Keeps all increments with this key on one shard (while the shard count lasts) instead of a random one. */
  shardKey?: string;
}

/**
 * Adds `by` to a counter. Resolves once the server has acknowledged it; offline, that is when the device is back
 * online. Never lost once acknowledged, and not counted twice when a cut connection makes the SDK send it again.
 *
 * Cost: 1 write. The first increment of a counter by this client also reads the counter document (1 read), and so
 * does one a minute after that, or one in 20 of a busy writer, unless `onCounter` is watching it. A refused write costs 1 more read.
 *
 * @param by  a finite, non-zero number. The default rules accept 1 alone
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-option` before any I/O, or
 *         `counter/permission-denied` when the rules refuse it; other Firestore errors as they are
 *
 * @example
 * await incrementCounter(counter(db, "views:home"));
 */
export async function incrementCounter(ref: CounterRef, by = 1, options: IncrementOptions = {}): Promise<void> {
  validAmount(by);
  if (options.shardKey !== undefined) validShardKey(options.shardKey);
  const spread = await spreadForWrite(ref);
  const shard =
    options.shardKey === undefined
      ? randomShard(spread.width, Math.random)
      : shardForKey(options.shardKey, spread.width);
  const plan = planIncrement(ref.collection, ref.id, shard, by, spread.nextTurn(), Math.random);
  const start = performance.now();
  await write(ref, plan);
  if (spread.acknowledged(performance.now() - start)) refreshSpread(ref);
}

async function write(ref: CounterRef, plan: IncrementPlan): Promise<void> {
  const shard = doc(ref.firestore, plan.path);
  const data = {
    count: increment(plan.by),
    writes: increment(1),
    at: serverTimestamp(),
    marks: { [plan.slot]: plan.nonce },
  };
  try {
    await setDoc(shard, data, { merge: true });
  } catch (error) {
    if ((error as FirestoreError).code !== "permission-denied") throw error;
    if (!(await wasCommitted(ref, plan))) throw refused(ref, plan, error);
  }
}

/** Reads the marks as the server has them. Outside a transaction the SDK would overlay our own unsent writes. */
async function wasCommitted(ref: CounterRef, plan: IncrementPlan): Promise<boolean> {
  let marks: unknown;
  const read = new Error("read, with nothing to commit");
  try {
    await runTransaction(ref.firestore, async (transaction) => {
      marks = (await transaction.get(doc(ref.firestore, plan.path))).get("marks");
      throw read;
    });
  } catch (error) {
    if ((error as FirestoreError).code === "permission-denied") return false;
    if (error !== read) throw error;
  }
  return isCommitted(plan, marks);
}

function refused(ref: CounterRef, plan: IncrementPlan, cause: unknown): CounterError {
  return new CounterError(
    "counter/permission-denied",
    `the rules refuse to increment "${ref.id}" by ${plan.by}. By default they accept +1, and counters of the groups ` +
      `"likes" and "votes" only once per signed-in user; the policy stands at the top of firestore.rules`,
    { cause },
  );
}
