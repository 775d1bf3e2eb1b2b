/**
 * Combines the increments of one process and counter: those made while a commit is under way share the next one.
 *
 * So a process has one commit per counter under way, and a burst costs two or three, however large it is. Nobody waits for
 * a timer: what is added while nothing is under way is committed at once, with what else is added in the same turn.
 */

/** One commit, and what it adds: it grows until the commit before it is done. */
interface Share {
  sum: number;
  readonly done: Promise<void>;
}

/**
 * @param commit - adds a sum to the counter
 * @returns      adds `by`; resolves or rejects with the commit that holds it
 */
export function combine(commit: (sum: number) => Promise<void>): (by: number) => Promise<void> {
  let next: Share | undefined;
  let last: Promise<unknown> = Promise.resolve();

  function open(): Share {
    const share: Share = { sum: 0, done: last.then(() => close(share)) };
    // Each tells those who share it that it failed; the one after it does not care.
    last = share.done.catch(() => undefined);
    return share;
  }

  async function close(share: Share): Promise<void> {
    if (next === share) next = undefined;
    if (share.sum !== 0) await commit(share.sum);
  }

  return (by) => {
    if (!next || !isExact(next.sum + by)) next = open();
    next.sum += by;
    return next.done;
  };
}

/** Whether a sum of whole numbers is what they add up to. Beyond, they are rounded, and in the end infinite. */
function isExact(sum: number): boolean {
  return Math.abs(sum) <= Number.MAX_SAFE_INTEGER;
}
