import {
  type DocumentReference,
  deleteField,
  type FieldValue,
  runTransaction,
  type Timestamp,
} from "firebase/firestore";
import { MARK_LIFETIME_SECONDS, type ShardDocument } from "../../../core/src/index.ts";
import { readFromServer } from "./counter.ts";

/**
 * Removes windows of marks that are too old to refuse a replay. Gives up under contention, because in the SDK's queue it would
 * delay the app's own writes. Cost: 1 read, and 1 write if there are old windows.
 */
export async function removeOldMarks(shard: DocumentReference): Promise<void> {
  const snapshot = await readFromServer(shard, 1);
  if (!snapshot?.exists()) return;
  // A shard that a server made has no marks. The shard's last write is a lower bound of the server's time.
  const { at: last, marks = {} } = snapshot.data() as ShardDocument<Timestamp>;
  const old: Record<string, FieldValue> = {};
  for (const [window, { at }] of Object.entries(marks)) {
    if (at.seconds + MARK_LIFETIME_SECONDS < last.seconds - 1) old[`marks.${window}`] = deleteField();
  }
  if (Object.keys(old)[0])
    await runTransaction(shard.firestore, async (own) => own.update(shard, old), { maxAttempts: 1 });
}
