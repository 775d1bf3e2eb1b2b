/** Edits the batches that the code under test commits, for mutations. The code itself stays as it is. */
import type { WriteBatch } from "./model/adminSdk.ts";
import type { Write } from "./model/database.ts";

/** Commits writes in a new batch. */
type Commit = (writes: readonly Write[]) => ReturnType<WriteBatch["commit"]>;

/** Changes the writes of a batch and commits them. */
export type Edit = (writes: readonly Write[], commit: Commit) => ReturnType<WriteBatch["commit"]>;

/** A copy of a reference, counter or collection. `edit` commits the batches of its Firestore. */
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

/** Changes each write. */
export function eachWrite(change: (write: Write) => Write): Edit {
  return (writes, commit) => commit(writes.map(change));
}

/** Splits the commit in two. */
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
