/**
 * Firestore keeps the writes of each user apart, and sends those of the present one alone. So those that are under way are
 * waited for before the user changes, and those that come meanwhile wait for it.
 */

const underWay = new Set<Promise<unknown>>();
let switching: Promise<unknown> = Promise.resolve();

/** Makes a write: at once, but for the moment in which somebody signs in. */
export function write<Result>(make: () => Promise<Result>): Promise<Result> {
  const written = switching.then(make);
  underWay.add(written);
  const over = () => underWay.delete(written);
  written.then(over, over);
  return written;
}

/** Changes who is signed in, once the writes that are under way have arrived: offline that takes until it is back. */
export async function switchUser<Result>(change: () => Promise<Result>): Promise<Result> {
  await Promise.allSettled(underWay);
  // Those that were begun meanwhile are few, and the last.
  const changed = Promise.allSettled(underWay).then(change);
  switching = changed.catch(() => {});
  return changed;
}
