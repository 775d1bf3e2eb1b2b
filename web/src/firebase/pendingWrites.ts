/**
 * Lets pending writes finish before the user changes. Firestore queues the writes of each user apart and sends only those
 * of the current one, so a write that is pending during a change would be stuck.
 */

const pending = new Set<Promise<unknown>>();
let userChange: Promise<unknown> = Promise.resolve();

/** Makes a write: at once, or after a change of user that is in progress. */
export function trackWrite<Result>(write: () => Promise<Result>): Promise<Result> {
  const written = userChange.then(write);
  pending.add(written);
  const finished = () => pending.delete(written);
  written.then(finished, finished);
  return written;
}

/**
 * Changes the user once pending writes have been acknowledged, which offline takes until the network is back. Changes are made one after
 * another, so one finds the user that those before it have signed in.
 */
export async function changeUser<Result>(change: () => Promise<Result>): Promise<Result> {
  await Promise.allSettled(pending);
  // Writes that started meanwhile; later ones wait for `userChange`.
  const changed = Promise.allSettled([userChange, ...pending]).then(change);
  userChange = changed.catch(() => {});
  return changed;
}
