/**
 * Keeps pending writes from being lost. Firestore queues the writes of each user apart and sends only those of the current one, so a
 * write that is pending during a change of user would be stuck. And the queue is in memory: a page that is left loses it.
 */
import { useEffect, useState } from "preact/hooks";

const pending = new Set<Promise<unknown>>();
const listeners = new Set<() => void>();
let userChange: Promise<unknown> = Promise.resolve();

/** A write usually takes less. One that takes longer has no connection, and would be lost with the page. */
const SLOW_MS = 2_000;

/** Makes a write: at once, or after a change of user that is in progress. */
export function trackWrite<Result>(write: () => Promise<Result>): Promise<Result> {
  const written = userChange.then(write);
  pending.add(written);
  // The browser asks the visitor whether to leave the page.
  const guard = (event: BeforeUnloadEvent) => event.preventDefault();
  const timer = setTimeout(() => addEventListener("beforeunload", guard), SLOW_MS);
  const finished = () => {
    clearTimeout(timer);
    removeEventListener("beforeunload", guard);
    pending.delete(written);
    changed();
  };
  written.then(finished, finished);
  changed();
  return written;
}

function changed(): void {
  for (const listener of listeners) listener();
}

/** How many writes of this page have no outcome yet. */
export function usePendingWrites(): number {
  const [count, setCount] = useState(pending.size);
  useEffect(() => {
    const update = () => setCount(pending.size);
    listeners.add(update);
    update();
    return () => {
      listeners.delete(update);
    };
  }, []);
  return count;
}

/**
 * Changes the user once pending writes have been acknowledged, which offline takes until the network is back. Changes are made one after
 * another, so one finds the user that those before it have signed in.
 */
export async function changeUser<Result>(change: () => Promise<Result>): Promise<Result> {
  await Promise.allSettled(pending);
  // Writes that started meanwhile; later ones wait for `userChange`.
  const made = Promise.allSettled([userChange, ...pending]).then(change);
  userChange = made.catch(() => {});
  return made;
}
