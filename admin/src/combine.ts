/**
 * Combines the increments of one process and counter: those made while a commit is pending share the next one.
 *
 * So a process has one pending commit per counter, and a burst of any size costs two or three. No increment waits for a
 * timer: with no pending commit it is committed at once, together with the others of the same turn of the event loop.
 */

/** One commit and the sum it adds, which grows until the commit before it is done. */
interface SharedCommit {
  sum: number;
  readonly done: Promise<void>;
}

/**
 * @param commit - adds a sum to the counter
 * @returns      adds `by`; resolves or rejects with the commit that contains it
 */
export function combine(commit: (sum: number) => Promise<void>): (by: number) => Promise<void> {
  let next: SharedCommit | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function open(): SharedCommit {
    const shared: SharedCommit = { sum: 0, done: last.then(() => close(shared)) };
    // Its increments reject if it fails; the next commit goes ahead.
    last = shared.done.catch(() => undefined);
    return shared;
  }

  async function close(shared: SharedCommit): Promise<void> {
    if (next === shared) next = undefined;
    if (shared.sum !== 0) await commit(shared.sum);
  }

  return (by) => {
    if (!next || !isExact(next.sum + by)) next = open();
    next.sum += by;
    return next.done;
  };
}

/** Whether a sum of whole numbers is exact. Larger sums are rounded. */
function isExact(sum: number): boolean {
  return Math.abs(sum) <= Number.MAX_SAFE_INTEGER;
}
