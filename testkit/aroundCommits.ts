/** What happens between the reads of the code under test and its commit, and what it learns of the commit. */
import type { Firestore } from "firebase-admin/firestore";

/** Sends a batch. */
type Commit = () => Promise<unknown>;

/** A view of a database whose batches are committed by `around`. */
export function aroundCommits(firestore: Firestore, around: (commit: Commit) => Promise<unknown>): Firestore {
  return Object.create(firestore, {
    batch: {
      value: () => {
        const batch = firestore.batch();
        const commit = batch.commit.bind(batch);
        batch.commit = () => around(commit) as ReturnType<typeof commit>;
        return batch;
      },
    },
  });
}

/** Does something before the first commit. */
export function beforeFirstCommit(firestore: Firestore, act: () => Promise<unknown>): Firestore {
  const actOnce = once(act);
  return aroundCommits(firestore, async (commit) => {
    await actOnce();
    return await commit();
  });
}

/** The first commit succeeds, but its answer is lost. Meanwhile something happens. */
export function losingFirstAnswer(firestore: Firestore, act: () => Promise<unknown>): Firestore {
  const lose = once(async () => {
    await act();
    throw Object.assign(new Error("the connection was cut"), { code: 14 });
  });
  return aroundCommits(firestore, async (commit) => {
    const answer = await commit();
    await lose();
    return answer;
  });
}

/** A function that acts when it is first called. */
export function once(act: () => Promise<unknown>): () => Promise<void> {
  let hasActed = false;
  return async () => {
    if (hasActed) return;
    hasActed = true;
    await act();
  };
}
