/**
 * Increments: one merge into one shard, replay-proof; with a key, also one entry in the same commit.
 *
 * When a connection is cut between the server's commit and its acknowledgement, the Firestore SDK sends the write
 * again. The rules refuse the replay because it changes no mark; the refusal reaches us as `permission-denied`, and
 * one look at the server tells a refused replay (our mark or our entry is there: it counted) from a refused increment.
 */
import {
  type DocumentReference,
  type DocumentSnapshot,
  doc,
  type FirestoreError,
  getDoc,
  increment,
  runTransaction,
  serverTimestamp,
  type Timestamp,
  type Transaction,
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
import { type Committed, type Counter, type CounterRef, knowSpread } from "./counter.ts";

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
 * Cost: 1 write; 2 and the 4 reads of the rules with a `key`. The first increment of a counter by this client also
 * reads the counter document before it writes (1 read, for a second at most), and so does one a minute after that, or
 * one in 20 of a busy writer, unless `onCounter` is watching it. A refused write costs 1 more read, 2 with a `key`.
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
 * Cost: 1 read; if the key counts, 1 write and 1 delete more, and the 4 reads of the rules.
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
  const undo = (done: DocumentSnapshot) => perform(counter, -done.get("by"), undefined, done);
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
  const actual = await readServer(entry, { code: "permission-denied" });
  if (actual?.exists()) await undo(actual);
}

/**
 * Adds an increment to a batch or transaction of yours: the comment and its count are committed together or not at all.
 * No I/O of its own. One increment per counter and batch: add up what belongs together.
 *
 * A watch shows it when it is published. If a cut connection makes the SDK send the batch again, the rules refuse all
 * of it, and `commit` rejects with `permission-denied` although the first attempt was committed: a document that your
 * batch creates under an id of its own tells.
 *
 * Cost: 1 write of the batch, 2 and the 4 reads of the rules with a `key`.
 *
 * @throws CounterError `counter/invalid-amount`, `counter/invalid-key`
 *
 * @example
 * ```ts
 * const batch = writeBatch(db);
 * batch.set(doc(db, "posts/42/comments", id), { text });
 * incrementCounterIn(batch, counter(db, "comments:42"));
 * await batch.commit();
 * ```
 */
export function incrementCounterIn(
  writer: WriteBatch | Transaction,
  ref: CounterRef,
  by = 1,
  options: IncrementOptions = {},
): void {
  const { key } = options;
  const counter = ref as Counter;
  validIncrement(by, key);
  knowSpread(counter);
  write(writer as WriteBatch, counter, by, key);
}

/**
 * Commits an increment. Whoever watches the counter knows of it at once.
 *
 * @param undo - the entry of a keyed increment, which goes
 */
function perform(counter: Counter, by: number, key?: string, undo?: DocumentSnapshot): Promise<unknown> {
  const outcome = commit(counter, by, key, undo);
  counter._watcher?._follow(by, outcome, key ?? undo?.id);
  return outcome;
}

async function commit(counter: Counter, by: number, key?: string, undo?: DocumentSnapshot): Promise<Committed> {
  await knowSpread(counter);
  const batch = writeBatch(counter.firestore);
  const plan = write(batch, counter, by, key, undo);
  const start = Date.now();
  counter._spread._sent();
  const _at = await batch
    .commit()
    .finally(() => counter._spread._answered())
    .catch((error) => find(counter, plan, error));
  return { _path: plan.path, _took: Date.now() - start, _at: _at as Committed["_at"] };
}

/** Plans an increment and puts it into a batch. */
function write(w: WriteBatch, counter: Counter, by: number, key?: string, undo?: DocumentSnapshot): IncrementPlan {
  const { firestore, path, _spread } = counter;
  const shard: string = undo ? undo.get("shard") : randomShard(_spread._width(), Math.random);
  const plan = planIncrement(path, shard, by, _spread._nextTurn(), Math.random, key);
  const at = serverTimestamp();
  if (undo) w.delete(undo.ref);
  if (plan.entry) w.set(doc(firestore, plan.entry), { by, shard, at });
  w.set(
    doc(firestore, plan.path),
    { count: increment(by), writes: increment(1), at, marks: { [plan.slot]: plan.nonce } },
    { merge: true },
  );
  return plan;
}

/**
 * Finds a refused write at the server: a replay is refused because its first attempt was committed, and a key because it
 * counts already. Cost: 1 read, 2 with a key.
 *
 * @returns the server's timestamp of the write, or of a later one; `null` if the key had counted before
 * @throws CounterError `counter/permission-denied` if it does not count
 */
async function find({ firestore, id }: Counter, plan: IncrementPlan, cause: FirestoreError): Promise<Timestamp | null> {
  const { path, by, slot, nonce, entry } = plan;
  unlessDenied(cause);
  const shard = await readServer(doc(firestore, path), cause);
  if (shard?.get("marks")?.[slot] === nonce) return shard?.get("at");
  if (entry && (await readServer(doc(firestore, entry), cause))?.get("by") === by) return null;
  throw new CounterError(
    "counter/permission-denied",
    `isAllowedAmount in firestore.rules denies ${by} for "${id}"`,
    cause,
  );
}

/**
 * A document as the server has it, if we may read it: in a transaction with nothing to commit, since outside of one the
 * SDK would overlay our own unsent writes. Cost: 1 read.
 *
 * @param denied - ends the transaction; not thrown
 */
async function readServer(document: DocumentReference, denied: Denied): Promise<DocumentSnapshot | undefined> {
  let snapshot: DocumentSnapshot | undefined;
  const read = async (transaction: Transaction) => {
    snapshot = await transaction.get(document);
    throw denied;
  };
  // However long it takes: without an answer, nobody knows whether the increment counts.
  await runTransaction(document.firestore, read, { maxAttempts: 1e9 }).catch(unlessDenied);
  return snapshot;
}

/** An error whose code is `permission-denied`. */
type Denied = { readonly code: string };

function unlessDenied(error: Denied): void {
  if (error.code !== "permission-denied") throw error;
}
