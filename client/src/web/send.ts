/**
 * Sends writes: in a transaction, which gives up a contended document so that the caller can try another, or by the SDK's queue, which
 * would retry the same document without end, works offline and survives a reload.
 *
 * A transaction also removes the shard's slot of marks that has expired by this device's clock. If the clock is wrong, the rules
 * refuse the write; it is then made again without the removal. Writes in the SDK's queue may be sent hours later, so they remove nothing.
 */
import { doc, type Firestore, runTransaction, type Timestamp, type WriteBatch, writeBatch } from "firebase/firestore";
import { LOOKUP_ATTEMPTS, MARK_SLOT_MILLIS, MARK_SLOTS } from "../../../core/src/index.ts";
import { type IncrementCall, queueStateOf } from "./call.ts";
import { type Counter, hasCode, isHiddenOrOffline, onHidden, readFromServer } from "./counter.ts";

/** Adds writes. Returns the path of the document that gets an increment, if there is one. */
export type AddWrites = (writer: WriteBatch, removesMarks?: boolean) => string | undefined;

/** What is sent, and how. */
export interface Sending {
  /** Called when the SDK is free to commit the writes, which are the same each time. */
  readonly _add: AddWrites;
  /** Of an increment. */
  readonly _call?: IncrementCall;
  /** Whether the writes go to the queue at once. */
  readonly _isQueued?: boolean | undefined;
  /** Whether they go to the counter document: nothing else is removed with them, and a watch sees them there. */
  readonly _isDirect?: boolean;
}

/** How many increments are in transactions. While one is committed, the SDK holds all other writes of the database back. */
const transactions = new WeakMap<Firestore, number>();

export const transactionsOf = ({ firestore }: Counter): number => transactions.get(firestore) ?? 0;

/**
 * Sends writes. If a transaction has no answer, or the page is hidden meanwhile, the same writes go to the queue; both together count once.
 *
 * @returns the server's timestamp if it is at hand and a watch may need it
 * @throws FirestoreError `aborted` or `permission-denied`, if neither a transaction nor the queue has committed them
 */
export async function send(counter: Counter, sending: Sending): Promise<Timestamp | undefined> {
  const { firestore, _watcher } = counter;
  const { _add, _call, _isQueued, _isDirect } = sending;
  if (!_isQueued && !isHiddenOrOffline()) {
    let stopListening!: () => void;
    const hidden = new Promise<void>((resolve) => {
      stopListening = onHidden(resolve);
    });
    transactions.set(firestore, transactionsOf(counter) + 1);
    const transaction = commitInTransaction(counter, sending).catch((error) => {
      if (hasCode(error, "aborted") || hasCode(error, "permission-denied")) throw error;
    });
    // A transaction does not survive its page.
    const committed = await Promise.race([transaction, hidden]).finally(() => {
      transactions.set(firestore, transactionsOf(counter) - 1);
      stopListening();
    });
    if (committed) {
      _call?._ordered?._markSent();
      // The cache does not have the server's timestamp.
      const written = !_isDirect && _watcher?._isWatched() && committed._path && doc(firestore, committed._path);
      return written ? (await readFromServer(written, LOOKUP_ATTEMPTS).catch(() => undefined))?.get("at") : undefined;
    }
  }
  const batch = writeBatch(firestore);
  _add(batch);
  _call?._ordered?._markSent();
  const queued = _call ? queueStateOf(_call) : {};
  queued._isQueued = true;
  try {
    const committed = batch.commit();
    _watcher?._queued(queued);
    // Without its result: React Native Firebase resolves it to `null` on Android.
    await committed;
  } finally {
    queued._isQueued = false;
  }
  return undefined;
}

/** Until when this client removes no marks of a counter, by `performance.now()`. */
const keepsMarksUntil = new WeakMap<Counter, number>();

/**
 * Commits writes in a transaction that also removes the expired slot of the shard. If the rules refuse that, a clock is wrong, or
 * another client has just begun the slot. The same writes are then committed without the removal, and this client removes none of
 * the counter's marks for some minutes.
 */
async function commitInTransaction(
  counter: Counter,
  { _add, _isDirect }: Sending,
): Promise<{ _path: string | undefined }> {
  const commit = (removesMarks: boolean) =>
    runTransaction(counter.firestore, async (own) => ({ _path: _add(own as unknown as WriteBatch, removesMarks) }), {
      maxAttempts: 1,
    });
  const removesMarks = !_isDirect && !(performance.now() < (keepsMarksUntil.get(counter) as number));
  return await commit(removesMarks).catch(async (error) => {
    if (!removesMarks || !hasCode(error, "permission-denied")) throw error;
    const accepted = await commit(false);
    keepsMarksUntil.set(counter, performance.now() + MARK_SLOTS * MARK_SLOT_MILLIS);
    return accepted;
  });
}
