import { type DocumentReference, deleteField, type FieldValue, type Timestamp, updateDoc } from "firebase/firestore";
import { MARK_LIFETIME_SECONDS, type ShardDocument } from "../../../core/src/index.ts";
import { readServer } from "./counter.ts";

/** Removes the windows of marks that are too old to refuse a replay. Cost: 1 read, and 1 write if there are any. */
export async function tidy(shard: DocumentReference): Promise<void> {
  const snapshot = await readServer(shard, 1);
  if (!snapshot) return;
  const { at: last, marks } = snapshot.data() as ShardDocument<Timestamp>;
  const old: Record<string, FieldValue> = {};
  for (const [window, { at }] of Object.entries(marks)) {
    if (at.seconds + MARK_LIFETIME_SECONDS < last.seconds - 1) old[`marks.${window}`] = deleteField();
  }
  if (Object.keys(old)[0]) await updateDoc(shard, old);
}
