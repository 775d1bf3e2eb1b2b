/**
 * Whether an increment goes to the SDK's queue, which keeps the order of calls and is in the cache at once, but retries a contended write on
 * the same shard; or first to a transaction, which gives up a contended shard so that the client can try another.
 */

/** What that depends on. */
export interface Situation {
  /** The call with `once`: the first of this client, a later one, or none. */
  readonly _once: "first" | "later" | undefined;
  /** Whether it undoes an increment, so that the entry names its shard. */
  readonly _isUndo: boolean;
  /** Whether the counter is watched: the cache then has the timestamps of queued increments. */
  readonly _isWatched: boolean;
  /** Whether the client could read the counter document. One that could not may be offline. */
  readonly _isRead: boolean;
  /** Whether no crowd is near: the counter is not new, not growing, and its last writes were not contended. One increment in 20 says no. */
  readonly _isCalm: boolean | undefined;
}

/** Whether an increment goes to the queue at once. */
export function goesToQueue({ _once, _isUndo, _isWatched, _isRead, _isCalm }: Situation): boolean {
  if (_isUndo || _once === "later") return true;
  if (_isCalm) return _isWatched || _once === "first";
  return _once === "first" && !_isRead;
}
