/**
 * The order of the calls with a key of one client: a like, its undo. A call begins when the one before is in the SDK's queue, which
 * keeps the order, or has an outcome. So an increment that tries one shard after another is not overtaken by its undo.
 */
import type { Counter } from "./counter.ts";

/** One call with a key. */
export interface Turn {
  readonly _key: string;
  /** Whether the client has made no call with a key for this counter before. */
  readonly _isFirst: boolean;
  /** The call is in the SDK's queue or committed: the next one may begin. */
  _sent(isSent: true): void;
}

/** Makes a call with a key after those before. */
export async function inTurn<T>(counter: Counter, key: string, call: (turn: Turn) => Promise<T>): Promise<T> {
  const before = counter._turn;
  let end!: (isSent?: true) => void;
  counter._turn = new Promise((resolve) => {
    end = resolve;
  });
  try {
    await before;
    return await call({ _key: key, _isFirst: !before, _sent: end });
  } finally {
    end();
  }
}
