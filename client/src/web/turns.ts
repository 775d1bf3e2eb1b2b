/**
 * The order of one client's calls with the same `once`: a like, its undo. A call begins when the one before is in the SDK's queue, which
 * keeps the order, or has an outcome. So an increment that tries one shard after another is not overtaken by its undo.
 */
import type { Sent, Turn } from "./call.ts";
import type { Counter } from "./counter.ts";

/**
 * Makes a call with `once` after those before.
 *
 * @param counts - whether it counts afterwards; `undefined` if the outcome alone tells, as for a take
 */
export function inTurn<T>(
  { _turns, _entryWatches, _watcher }: Counter,
  once: string,
  counts: boolean | undefined,
  call: (turn: Turn) => Promise<T>,
): Promise<T> {
  const before = _turns.get(once);
  let end!: (isSent?: true) => void;
  const sent: Sent = new Promise((resolve) => {
    end = resolve;
  });
  sent._counts = counts;
  _turns.set(once, sent);
  const turn: Turn = {
    _once: once,
    _isFirst: !before,
    _isUndone: () => (_turns.get(once) as Sent)._counts === false,
    _isSent: false,
    _sent() {
      if (turn._waits) return;
      turn._isSent = true;
      end(true);
    },
  };
  _watcher?._callsChanged(turn);
  const take = async () => {
    try {
      await before;
      return await call(turn);
    } finally {
      end();
      _watcher?._callsChanged(turn, true);
    }
  };
  const outcome = take();
  if (counts !== undefined) for (const follow of _entryWatches ?? []) follow(turn, counts, outcome);
  return outcome;
}
