/**
 * The order of one client's calls with the same `once`: a like, its undo. A call begins when the one before is in the SDK's queue, which
 * keeps the order, or has an outcome. So an increment that tries one shard after another is not overtaken by its undo.
 */
import { OrderedCall } from "./call.ts";
import type { Counter } from "./counter.ts";

/** Whether the last call of this client with a `once` is an undo. */
export function isUndone({ _calls }: Counter, once: string): boolean {
  return _calls.get(once)?._counts === false;
}

/**
 * Makes a call with `once` after those before.
 *
 * @param counts - whether it counts afterwards; `undefined` if the outcome alone tells, as for a take
 */
export function inOrder<T>(
  counter: Counter,
  once: string,
  counts: boolean | undefined,
  make: (call: OrderedCall) => Promise<T>,
): Promise<T> {
  const { _calls, _entryWatches, _watcher } = counter;
  const before = _calls.get(once);
  const call = new OrderedCall(_calls, once, counts);
  _watcher?._callsChanged(call);
  const begin = async () => {
    try {
      await before?._ended;
      return await make(call);
    } finally {
      call._pending = undefined;
      call._end();
      _watcher?._callsChanged(call, true);
    }
  };
  const outcome = begin();
  if (counts !== undefined) for (const follow of _entryWatches ?? []) follow(call, counts, outcome);
  return outcome;
}
