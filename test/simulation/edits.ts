/** Changes what the code under test commits, for mutations: the code stays as it is, and its batches are edited on their way. */
import type { WriteBatch } from "./model/adminSdk.ts";
import type { Write } from "./model/database.ts";

/** Commits what it is given, in a batch of its own. */
type Commit = (writes: readonly Write[]) => ReturnType<WriteBatch["commit"]>;

/** Commits the writes of a batch, changed. */
export type Edit = (writes: readonly Write[], commit: Commit) => ReturnType<WriteBatch["commit"]>;

/** The same reference, counter or collection; batches of its Firestore are committed by `edit`. */
export function editingCommits<Ref extends { readonly firestore: unknown }>(ref: Ref, edit: Edit): Ref {
  const real = ref.firestore as { batch(): WriteBatch };
  const batchOf = (writes: readonly Write[]) => {
    const batch = real.batch();
    batch.writes.push(...writes);
    return batch;
  };
  const batch = () => {
    const edited = real.batch();
    edited.commit = () => edit(edited.writes, (writes) => batchOf(writes).commit());
    return edited;
  };
  const firestore = Object.create(real, { batch: { value: batch } });
  return Object.create(ref, { firestore: { value: firestore } });
}

/** Each write by itself, changed. */
export function eachWrite(change: (write: Write) => Write): Edit {
  return (writes, commit) => commit(writes.map(change));
}

/** Two commits instead of one. */
export function inTwoCommits(isFirst: (write: Write) => boolean): Edit {
  return async (writes, commit) => {
    const result = await commit(writes.filter(isFirst));
    const rest = writes.filter((write) => !isFirst(write));
    if (rest.length > 0) await commit(rest);
    return result;
  };
}

export const withoutPreconditions = eachWrite((write) => ({ ...write, lastUpdateTime: undefined }));

export const setsForCreates = eachWrite((write) => (write.kind === "create" ? { ...write, kind: "set" } : write));
