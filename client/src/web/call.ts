/** One call for an increment, from its first step to its outcome. */
import type { Timestamp, WriteBatch } from "firebase/firestore";
import type { IncrementPlan } from "../../../core/src/index.ts";

/** Where the writes of a call are. */
export interface QueueState {
  /** Whether they are in the SDK's queue of the user who was signed in then. */
  _isQueued?: boolean;
  /** Whether another user has been signed in since. */
  _hasUserChanged?: boolean | undefined;
  /** Whether another user is signed in now. The SDK sends them when their own user signs in again. */
  _isAway?: boolean;
}

/** A call with `once`. Its fields are declared, so that they take no room in apps. */
export class OrderedCall implements QueueState {
  declare _isQueued?: boolean;
  declare _hasUserChanged?: boolean | undefined;
  declare _isAway?: boolean;
  declare readonly _once: string;
  /** Whether it is to count afterwards; `undefined` if the outcome alone tells, as for a take. */
  declare readonly _counts: boolean | undefined;
  /** Whether this client has made no call with the `once` before. */
  declare readonly _isFirst: boolean;
  /** Resolves when the next call may begin. */
  declare readonly _ended: Promise<void>;
  /** Ends it for the next call. */
  declare _end: () => void;
  /** Whether it is in the SDK's queue, or committed. Then the next call may have begun. */
  declare _isSent?: boolean;
  /** Whether it takes units, or gives them back: it cannot wait in the SDK's queue, so the next call waits for the outcome. */
  declare _isTake?: boolean;
  /** Of an increment that has no outcome yet. */
  declare _pending?: { readonly _by: number; readonly _outcome: Promise<Committed> } | undefined;

  /** @param calls - the last call with each `once` */
  constructor(calls: Map<string, OrderedCall>, once: string, counts: boolean | undefined) {
    this._once = once;
    this._counts = counts;
    this._isFirst = !calls.has(once);
    this._ended = new Promise((resolve) => {
      this._end = resolve;
    });
    calls.set(once, this);
  }

  /** The call is in the SDK's queue or committed, or there is nothing to do: the next one may begin. */
  _markSent(): void {
    if (this._isTake) return;
    this._isSent = true;
    this._end();
  }
}

/** What an increment tells the watches of its counter (ownIncrements.ts). */
export interface Watcher {
  /** The client makes an increment or an undo. `outcome` rejects if the increment does not count. */
  _track(call: IncrementCall, outcome: Promise<Committed>): void;
  /** A call with `once` has begun, or has returned: it may wait for others, or for a read, before it writes. */
  _callsChanged(call: OrderedCall, hasReturned?: boolean): void;
  /** Writes of a call are in the SDK's queue. */
  _queued(queue: QueueState): void;
  /** The sum that buffers have not written changes by an amount. */
  _bufferedChanged(by: number): void;
  /** Whether there is a watch, or was one until some seconds ago. */
  _isWatched(): boolean;
  /** How many watches read totals by HTTP. These totals have no marks of direct increments. */
  _httpWatches?: number;
}

/** One call for an increment: what it does, and how that is being made. With `once`, the ordered call tells where its writes are. */
export interface IncrementCall extends QueueState {
  readonly _by: number;
  /** Of a call with `once`. */
  _ordered?: OrderedCall | undefined;
  /** Of an undo: what the entry names, a shard or `direct`. The commit deletes the entry. */
  readonly _undoneShard?: string;
  /** Of an undo: when the increment was made, perhaps by another tab; `null` while it is in the SDK's queue. */
  readonly _undoneAt?: Timestamp | null;
  /** Adds another write to the commit, given the path of the document that gets the increment. */
  readonly _alsoWrite?: ((writer: WriteBatch, path: string) => unknown) | undefined;
  /** A generation that has refused it. */
  _refusedBy?: number | undefined;
  /** How many shards have refused it. */
  _refusals?: number;
  /** The latest plan; `undefined` before the first. */
  _plan?: IncrementPlan;
}

/** A committed increment. */
export interface Committed {
  /** The path of the document that has it: a shard, or the counter document. */
  readonly _path: string;
  /**
   * The server's timestamp of the write, or of a later one; `undefined` if it was not read; `null` if its `once` had counted before, or a later
   * call has undone it.
   */
  readonly _at: Timestamp | null | undefined;
}

/** Where the writes of a call are. With `once`, the ordered call knows. */
export const queueStateOf = (call: IncrementCall): QueueState => call._ordered ?? call;
