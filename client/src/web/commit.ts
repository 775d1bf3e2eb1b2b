/**
 * Commits an increment: one merge into one shard or into the counter document, and with `once` one entry in the same commit. A replay does
 * not count.
 *
 * First the document is chosen, then whether the writes go to the SDK's queue at once (goesToQueue.ts). They are sent (send.ts). If that is
 * refused, a read finds out whether they count all the same (confirm.ts). If not, and if they cannot count any more, the increment is made
 * again elsewhere.
 */
import { DIRECT, INCREMENTS_PER_MARK_REMOVAL, type IncrementPlan, type SentWrite } from "../../../core/src/index.ts";
import type { Committed, IncrementCall, OrderedCall } from "./call.ts";
import { confirmCommitted, REFUSED } from "./confirm.ts";
import { type Counter, hasCode, isLive, refreshShardCount } from "./counter.ts";
import { goesToQueue } from "./goesToQueue.ts";
import { inOrder, isUndone } from "./inOrder.ts";
import { type AddWrites, send, transactionsOf } from "./send.ts";
import { addWrites, planFor } from "./writes.ts";

/**
 * Makes an increment. With `once`, after the earlier calls with it. A call that repeats the last one, which has no outcome yet, shares its
 * outcome. Otherwise the cache would show both writes until the rules refuse one.
 *
 * @param alsoWrite - adds another write to the commit, given the path of the document that gets the increment
 */
export function makeIncrement(
  counter: Counter,
  by: number,
  once?: string,
  alsoWrite?: IncrementCall["_alsoWrite"],
): Promise<Committed> {
  const commit = (ordered?: OrderedCall) =>
    commitIncrement(counter, { _by: by, _ordered: ordered, _alsoWrite: alsoWrite });
  if (!once) return commit();
  const last = counter._calls.get(once)?._pending;
  if (last?._by === by && !alsoWrite) return last._outcome;
  const outcome = inOrder(counter, once, true, commit);
  (counter._calls.get(once) as OrderedCall)._pending = { _by: by, _outcome: outcome };
  return outcome;
}

/** Commits an increment, and shows it at once in watches of the counter. */
export function commitIncrement(counter: Counter, call: IncrementCall): Promise<Committed> {
  const outcome = commitWithRetries(counter, call);
  counter._watcher?._track(call, outcome);
  return outcome;
}

async function commitWithRetries(counter: Counter, call: IncrementCall): Promise<Committed> {
  const { _shardCountCache, _watcher } = counter;
  const { _ordered: ordered, _undoneShard: undoneShard, _refusedBy: refusedBy } = call;
  const reading = refreshShardCount(counter);
  // Without a read, the increment is in the SDK's queue when this call returns.
  if (reading) await reading;
  const { _latest, _target, _hasNoShards } = counter;
  const room = _target?._room;
  const mayBeDirect =
    _latest &&
    !_watcher?._httpWatches &&
    (undoneShard ?? DIRECT) === DIRECT &&
    (_hasNoShards || (!_shardCountCache._isStale(isLive(counter)) && !_shardCountCache._isContended()));
  const found = mayBeDirect && room !== undefined && room > 0 ? _target?._generation : undefined;
  // If a generation that has refused this increment still takes others, the policy refuses direct increments.
  const generation = found === refusedBy ? undefined : found;
  const isDirect = generation !== undefined;
  // A direct increment has room. A known room of 0 means that this client alone has filled the generation.
  const hasNoCrowd = isDirect || (room !== undefined && room <= 0);
  const isQueued = goesToQueue({
    _once: ordered && (ordered._isFirst ? "first" : "later"),
    _isUndo: !!undoneShard,
    _isShown: hasNoCrowd || !!_watcher?._isWatched(),
    _isRead: !!_latest,
    _isCalm: hasNoCrowd
      ? // The document is known, and not just read, as by each page of a crowd. Or another increment is in a transaction.
        _hasNoShards || (!reading && refusedBy === undefined) || transactionsOf(counter) > 0
      : // Some increments are made as if it were not calm, because transactions also remove marks.
        _latest?.get("growing") === false &&
        !_shardCountCache._isContended() &&
        Math.random() * INCREMENTS_PER_MARK_REMOVAL > 1,
  });
  let plan!: IncrementPlan;
  let sent!: SentWrite;
  // While one transaction commits, the SDK holds everything else back. So the shard is chosen here, when more is known.
  const add: AddWrites = (writer, removesMarks) => {
    if (!plan) {
      plan = planFor(counter, {
        _by: call._by,
        _once: ordered?._once,
        _undoneShard: undoneShard,
        _generation: generation,
      });
      if (isDirect && counter._target) counter._target._room = (counter._target._room as number) - 1;
      call._plan = plan;
      sent = _shardCountCache._writeSent();
    }
    addWrites(writer, counter, plan, undoneShard, removesMarks);
    call._alsoWrite?.(writer, plan.path);
    return plan.path;
  };
  try {
    const _at = await send(counter, { _add: add, _call: call, _isQueued: isQueued, _isDirect: isDirect })
      // If expired marks fill the shard, a transaction, which removes some, is accepted. Not for calls with `once`, which keep their order.
      .catch((error) => {
        if (!isQueued || ordered || isDirect) throw error;
        return send(counter, { _add: add });
      })
      .catch((error) => confirmCommitted(counter, call, error));
    _shardCountCache._writeAnswered(sent);
    return { _path: plan.path, _at };
  } catch (error) {
    const isContended = hasCode(error, "aborted");
    _shardCountCache._writeAnswered(sent, isContended);
    const mayBeRepeated = isContended || error === REFUSED;
    if (!mayBeRepeated && !hasCode(error, "permission-denied")) throw error;
    // A later call with this `once` does the opposite, and has not waited. So this one must not be repeated; and it may be refused because the
    // later one was committed before the look-up.
    if (ordered && isUndone(counter, ordered._once) !== !!undoneShard) return { _path: plan.path, _at: null };
    if (!mayBeRepeated) throw error;
    // Without functions, contention is no reason to leave this generation.
    if (isDirect && !(counter._hasNoShards && isContended)) call._refusedBy = generation;
    // The refused write can no longer be committed, so another increment elsewhere is safe.
    const again = (next?: OrderedCall) => {
      call._ordered = next;
      return commitWithRetries(counter, call);
    };
    // If later calls did not wait for this one, they do from now on.
    return ordered?._isSent ? inOrder(counter, ordered._once, !undoneShard, again) : again(ordered);
  }
}
