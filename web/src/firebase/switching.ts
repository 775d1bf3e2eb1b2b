/**
 * Firestore keeps the writes of each user apart, and sends those of the present one alone. So what is under way is waited
 * for before the user changes, and nothing is written while it does.
 */
import { type Firestore, waitForPendingWrites } from "firebase/firestore";

let switching: Promise<unknown> = Promise.resolve();

/** Resolves when the user is not about to change: at once but for the moment of signing in. To be awaited before a write. */
export async function settled(): Promise<void> {
  await switching;
}

/** Changes who is signed in. Offline it waits while writes are under way, and lets others be made. */
export async function switchUser<Result>(db: Firestore, change: () => Promise<Result>): Promise<Result> {
  await waitForPendingWrites(db);
  // Once more, for those that were begun meanwhile.
  const changed = waitForPendingWrites(db).then(change);
  switching = changed.catch(() => {});
  return changed;
}
