/**
 * Where an increment is sent first: by the SDK's queue, which keeps the order of calls and shows it in the cache, or in a transaction, which
 * gives up a contended shard.
 *
 *     undo, or a later call with a `once`          queue
 *     calm, and shown or with a first `once`       queue
 *     not calm, first `once`, document not read    queue
 *     otherwise                                    transaction
 */

/** What that depends on. */
export interface Situation {
  /** The call with `once`: the first of this client, a later one, or none. */
  readonly _once: "first" | "later" | undefined;
  /** Whether it undoes an increment, so that the entry names its shard. */
  readonly _isUndo: boolean;
  /** Whether a watch can tell a queued increment: by its mark in the counter document, or by its timestamp in the cache of a watched counter. */
  readonly _isShown: boolean;
  /** Whether the client could read the counter document. One that could not may be offline. */
  readonly _isRead: boolean;
  /** Whether no crowd is near. On shards: the counter is not new, not growing, and its last writes were not contended. */
  readonly _isCalm: boolean | undefined;
}

/** Whether an increment goes to the queue at once. */
export function goesToQueue({ _once, _isUndo, _isShown, _isRead, _isCalm }: Situation): boolean {
  if (_isUndo || _once === "later") return true;
  if (_isCalm) return _isShown || _once === "first";
  return _once === "first" && !_isRead;
}
