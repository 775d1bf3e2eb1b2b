/**
 * Commits an increment: one merge into one shard or into the counter document, and with `once` one entry in the same commit. A replay does
 * not count.
 *
 * If a connection is cut between the server's commit and its acknowledgement, the Firestore SDK sends the write again. The
 * rules refuse this replay because it adds no mark. The refusal arrives as `permission-denied`. One read of that document then
 * tells a replay, whose mark is there, from an increment that the rules refuse.
 *
 * An increment in a transaction of its own also removes a window of marks that has expired by this device's clock. If the clock is
 * wrong, the rules refuse the write; it is then made again without the removal. Writes in the SDK's queue may be sent hours later, so
 * they remove nothing.
 */
import {
  doc,
  type Firestore,
  type FirestoreError,
  runTransaction,
  serverTimestamp,
  type Timestamp,
  type WriteBatch,
  writeBatch,
} from "firebase/firestore";
import {
  CounterError,
  DIRECT,
  INCREMENTS_PER_MARK_REMOVAL,
  type IncrementPlan,
  LOOKUP_ATTEMPTS,
  MARK_WINDOW_MILLIS,
  MARK_WINDOWS,
} from "../../../core/src/index.ts";
import { type Committed, type IncrementCall, queueStateOf, type Sent, type Turn } from "./call.ts";
import {
  type Counter,
  counterDoc,
  hasCode,
  isHiddenOrOffline,
  isLive,
  learn,
  onHidden,
  readFromServer,
  refreshShardCount,
  rethrowUnlessDenied,
  wayBy,
} from "./counter.ts";
import { inTurn } from "./turns.ts";
import { goesToQueue } from "./way.ts";
import { addWrites, hasMark, planFor } from "./writes.ts";

// For modules that only some apps use: each further import from the SDK makes every app larger.
export { doc, serverTimestamp, writeBatch };

/**
 * Makes an increment. With `once`, after the earlier calls with it. A call that repeats the last one, which has no outcome yet, shares its
 * outcome: of two writes in the SDK's queue, the cache would show both until the rules refuse one.
 *
 * @param alsoWrite - adds another write to the commit, given the path of the document that gets the increment
 */
export function makeIncrement(
  counter: Counter,
  by: number,
  once?: string,
  alsoWrite?: IncrementCall["_alsoWrite"],
): Promise<Committed> {
  const commit = (turn?: Turn) => commitIncrement(counter, { _by: by, _turn: turn, _alsoWrite: alsoWrite });
  if (!once) return commit();
  const last = counter._turns.get(once)?._pending;
  if (last?._by === by && !alsoWrite) return last._outcome;
  const outcome = inTurn(counter, once, true, commit);
  const sent = counter._turns.get(once) as Sent;
  sent._pending = { _by: by, _outcome: outcome };
  const end = () => {
    sent._pending = undefined;
  };
  outcome.then(end, end);
  return outcome;
}

/** Commits an increment, and shows it at once in watches of the counter. */
export function commitIncrement(counter: Counter, call: IncrementCall): Promise<Committed> {
  const outcome = commitWithRetries(counter, call);
  counter._watcher?._track(call, outcome);
  return outcome;
}

/** An increment was refused for ever, so another one elsewhere is safe. */
const REFUSED = {};

/** The shard has too many marks, so that another one is tried, as after contention. */
const FULL = { code: "aborted" };

/** @param refused - a generation that has refused the increment */
async function commitWithRetries(counter: Counter, call: IncrementCall, refused?: number): Promise<Committed> {
  const { _shardCountCache, _watcher } = counter;
  const { _turn: turn, _undoneShard: undoneShard } = call;
  const reading = refreshShardCount(counter);
  // Without a read, the increment is in the SDK's queue when this call returns.
  if (reading) await reading;
  const { _latest, _way, _hasNoShards } = counter;
  const mayBeDirect =
    _latest &&
    !_watcher?._served &&
    (undoneShard ?? DIRECT) === DIRECT &&
    (_hasNoShards || (!_shardCountCache._isStale(isLive(counter)) && !_shardCountCache._isContended()));
  const found = mayBeDirect && (_way?._room as number) > 0 ? _way?._generation : undefined;
  // If a generation that has refused this increment still takes others, the policy refuses direct increments.
  const generation = found === refused ? undefined : found;
  const isDirect = generation !== undefined;
  // If this client alone has filled the generation, there is no crowd.
  const isCalm = isDirect || (_way?._room as number) <= 0;
  let plan!: IncrementPlan;
  // While one transaction commits, the SDK holds everything else back. So the shard is chosen here, when more is known.
  const add: AddWrites = (writer, removesMarks) => {
    if (!plan) {
      plan = planFor(counter, call._by, turn?._once, undoneShard, generation);
      call._plan = plan;
      _shardCountCache._writeSent();
    }
    addWrites(writer, counter, plan, undoneShard, removesMarks);
    call._alsoWrite?.(writer, plan.path);
    return plan.path;
  };
  try {
    const isQueued = goesToQueue({
      _once: turn && (turn._isFirst ? "first" : "later"),
      _isUndo: !!undoneShard,
      _isWatched: isCalm || !!_watcher?._isWatched(),
      _isRead: !!_latest,
      _isCalm: isCalm
        ? // The document is known, and not just read, as by each page of a crowd. Or another increment is in a transaction.
          _hasNoShards || (!reading && refused === undefined) || transactionsOf(counter) > 0
        : // Some increments are made as if it were not calm, because transactions also remove marks.
          _latest?.get("growing") === false &&
          !_shardCountCache._isContended() &&
          Math.random() * INCREMENTS_PER_MARK_REMOVAL > 1,
    });
    const _at = await send(counter, add, isQueued, call, isDirect)
      // Where a shard is full of expired marks, the rules accept a write that removes some. Calls with `once` keep their order.
      .catch((error) => {
        if (!isQueued || turn || isDirect) throw error;
        return send(counter, add);
      })
      .catch((error) => confirmCommitted(counter, plan, error, call, refused));
    _shardCountCache._writeAnswered();
    return { _path: plan.path, _at: _at as Committed["_at"] };
  } catch (error) {
    const isContended = hasCode(error, "aborted");
    _shardCountCache._writeAnswered(isContended);
    if (!isContended && error !== REFUSED) throw error;
    // A later call with this `once` does the opposite, and has not waited. So this one must not be repeated.
    if (turn && turn._isUndone() !== !!undoneShard) return { _path: plan.path, _at: null };
    // The refused write can no longer be committed, so another increment elsewhere is safe.
    const again = (next?: Turn) => {
      call._turn = next;
      // Without functions, contention is no reason to leave this generation.
      return commitWithRetries(counter, call, counter._hasNoShards && isContended ? refused : (generation ?? refused));
    };
    // If later calls did not wait for this one, they do from now on.
    return turn?._isSent ? inTurn(counter, turn._once, !undoneShard, again) : again(turn);
  }
}

/** How many increments are in transactions. While one is committed, the SDK holds all other writes of the database back. */
const transactions = new WeakMap<Firestore, number>();

const transactionsOf = ({ firestore }: Counter) => transactions.get(firestore) ?? 0;

/** Adds the writes of an increment. Returns the path of the document that gets it, if there is one. */
type AddWrites = (writer: WriteBatch, removesMarks?: boolean) => string | undefined;

/**
 * Sends writes, first in a transaction: if contention aborts it, the caller tries another shard, whereas the SDK's
 * queue would retry the same shard without end. If the transaction has no answer, the same write goes to the queue, which
 * works offline and survives a reload; both together count once.
 *
 * @param add - adds the writes when the SDK is free to commit them, the same in both
 * @param isQueued - whether they go to the queue at once
 * @param isDirect - whether they go to the counter document: nothing else is removed with them, and a watch sees them there
 * @returns the server's timestamp if it is at hand and a watch may need it; else nothing, or `false`
 */
export async function send(
  counter: Counter,
  add: AddWrites,
  isQueued?: unknown,
  call?: IncrementCall,
  isDirect?: boolean,
): Promise<unknown> {
  const { firestore, _watcher } = counter;
  if (!isQueued && !isHiddenOrOffline()) {
    let stopListening!: () => void;
    const hidden = new Promise<void>((resolve) => {
      stopListening = onHidden(resolve);
    });
    transactions.set(firestore, transactionsOf(counter) + 1);
    const transaction = commitInTransaction(counter, add, isDirect).catch((error) => {
      if (hasCode(error, "aborted") || hasCode(error, "permission-denied")) throw error;
    });
    // A transaction does not survive its page.
    const committed = await Promise.race([transaction, hidden]).finally(() => {
      transactions.set(firestore, transactionsOf(counter) - 1);
      stopListening();
    });
    if (committed) {
      call?._turn?._sent();
      // The cache does not have the server's timestamp.
      const written = !isDirect && _watcher?._isWatched() && committed._path && doc(firestore, committed._path);
      return written && (await readFromServer(written, LOOKUP_ATTEMPTS).catch(() => undefined))?.get("at");
    }
  }
  const batch = writeBatch(firestore);
  add(batch);
  call?._turn?._sent();
  const queued = call ? queueStateOf(call) : {};
  queued._isQueued = true;
  try {
    const committed = batch.commit();
    _watcher?._queued(queued);
    // Without its result: React Native Firebase resolves it to `null` on Android.
    await committed;
  } finally {
    queued._isQueued = false;
  }
}

/** Until when this client removes no marks of a counter, by `performance.now()`. */
const keepsMarksUntil = new WeakMap<Counter, number>();

/**
 * Commits writes in a transaction that also removes the expired window of the shard. If the rules refuse that, a clock is wrong, or
 * another client has just begun the window. The same writes are then committed without the removal, and this client removes none of
 * the counter's marks for some minutes.
 */
async function commitInTransaction(
  counter: Counter,
  add: AddWrites,
  isDirect?: boolean,
): Promise<{ _path: string | undefined }> {
  const commit = (removesMarks: boolean) =>
    runTransaction(counter.firestore, async (own) => ({ _path: add(own as unknown as WriteBatch, removesMarks) }), {
      maxAttempts: 1,
    });
  const removesMarks = !isDirect && !(performance.now() < (keepsMarksUntil.get(counter) as number));
  return await commit(removesMarks).catch(async (error) => {
    if (!removesMarks || !hasCode(error, "permission-denied")) throw error;
    const accepted = await commit(false);
    keepsMarksUntil.set(counter, performance.now() + MARK_WINDOWS * MARK_WINDOW_MILLIS);
    return accepted;
  });
}

/**
 * Looks up whether a refused write counts: a replay was committed by its first attempt, and a `once` may count already. Browsers
 * repeat requests, too, so contention can refuse a replay. Cost: 1 read, 2 for a refused increment with `once`; 1 more on a shard.
 *
 * @param call - of the plan
 * @param refused - a generation that has refused the increment
 * @returns the server's timestamp of the write or of a later one; `null` if it had counted before
 * @throws CounterError `counter/permission-denied` if it does not count; the message says why that may be
 */
async function confirmCommitted(
  counter: Counter,
  plan: IncrementPlan,
  cause: FirestoreError,
  call: IncrementCall,
  refused?: number,
): Promise<Timestamp | null | undefined> {
  const { firestore, id } = counter;
  const { _undoneShard: undoneShard } = call;
  const isContended = hasCode(cause, "aborted");
  if (!isContended) rethrowUnlessDenied(cause);
  const { path, by, generation, window, entry } = plan;
  const isDirect = generation !== undefined;
  const shard = await readFromServer(doc(firestore, path), LOOKUP_ATTEMPTS);
  if (hasMark(shard, plan)) return shard?.get("at");
  if (isDirect) learn(counter, shard, shard?.get("growing"));
  if (isContended) throw cause;
  const own = entry && !undoneShard ? await readFromServer(doc(firestore, entry), LOOKUP_ATTEMPTS) : undefined;
  const counted = own?.get("by");
  if (counted === by) return null;
  if (isDirect) {
    // The generation still takes increments: the policy refuses this one, or the functions have come.
    if (counter._way?._generation === generation) counter._hasNoShards = false;
    throw REFUSED;
  }
  const { _latest } = counter;
  const mayBeOpen = !_latest?.exists() || _latest.get("direct.open");
  if (mayBeOpen && (undoneShard ?? DIRECT) === DIRECT && wayBy(_latest, true)._generation !== (refused ?? -1)) {
    const document = await readFromServer(counterDoc(counter), LOOKUP_ATTEMPTS);
    const next = wayBy(document, true)._generation;
    counter._hasNoShards = next !== undefined && next !== refused;
    learn(counter, document, document?.get("growing"));
    if (counter._hasNoShards) throw REFUSED;
  }
  call._refusals = (call._refusals ?? 0) + 1;
  const why = await import("./whyRefused.ts").then(
    ({ whyRefused }) =>
      whyRefused(
        by,
        shard,
        shard?.get(`marks.${window}.nonces`)?.length ?? 0,
        entry && (undoneShard ? "undo" : "increment"),
        own,
        call._refusals as number,
      ),
    () => "see its policy",
  );
  if (!why) throw FULL;
  throw new CounterError("counter/permission-denied", `firestore.rules refuse ${by} for "${id}"; ${why}`, cause);
}
