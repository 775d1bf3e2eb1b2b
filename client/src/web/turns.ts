/**
 * The order of one client's calls with the same `once`: a like, its undo. A call begins when the one before is in the SDK's queue, which
 * keeps the order, or has an outcome. So an increment that tries one shard after another is not overtaken by its undo.
 */
import type { Counter, Sent } from "./counter.ts";

/** One call with `once`. */
export interface Turn {
  readonly _once: string;
  /** Whether this client has made no call with the `once` before. */
  readonly _isFirst: boolean;
  /** Whether the last call of this client with the `once`, this one or a later one, is an undo. */
  _isUndone(): boolean;
  /** Whether the next one may have begun. */
  _isSent: boolean;
  /** The call is in the SDK's queue or committed, or there is nothing to do: the next one may begin. */
  _sent(): void;
}

/**
 * Makes a call with `once` after those before.
 *
 * @param counts - whether it counts afterwards; `undefined` if the outcome alone tells, as for a take
 */
export async function inTurn<T>(
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
  if (counts !== undefined) for (const follow of _entryWatches ?? []) follow(once, counts, sent);
  _watcher?._callsChanged(1);
  try {
    await before;
    const turn: Turn = {
      _once: once,
      _isFirst: !before,
      _isUndone: () => (_turns.get(once) as Sent)._counts === false,
      _isSent: false,
      _sent() {
        turn._isSent = true;
        end(true);
      },
    };
    return await call(turn);
  } finally {
    end();
    _watcher?._callsChanged(-1);
  }
}
