/**
 * When a refused listener tries again. The SDK does not tell when a user signs in, a claim is new, or other rules are deployed. So a listener
 * tries again after a quarter of the time that it has failed, 1 to 60 s. It tries at once when the page is shown, focused or online, and when
 * another listener of the database begins, as in most apps after sign-in. A hidden page waits until it is shown.
 *
 * The build makes this a file of its own, which is loaded with the first failure. Cost: a refused listener reads nothing.
 */
import type { Firestore } from "firebase/firestore";

const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

/** Events of the page after which a refused listener may be accepted. */
const EVENTS = ["visibilitychange", "focus", "online"];

/** Those that wait, by database. */
const waiting = new WeakMap<Firestore, Set<() => void>>();

/** Lets all listeners of a database that wait try again. */
export function wake(firestore: Firestore): void {
  for (const retry of [...(waiting.get(firestore) ?? [])]) retry();
}

/**
 * Lets a listener begin again.
 *
 * @param failedAt - since when it fails, by `performance.now()`
 * @returns a function that ends this
 */
export function retryLater(firestore: Firestore, failedAt: number, begin: () => void): () => void {
  const others = waiting.get(firestore) ?? new Set();
  waiting.set(firestore, others);
  const stop = () => {
    others.delete(retry);
    clearTimeout(timer);
    for (const event of EVENTS) globalThis.removeEventListener?.(event, retry);
  };
  const retry = () => {
    if (globalThis.document?.hidden) return;
    stop();
    begin();
  };
  others.add(retry);
  for (const event of EVENTS) globalThis.addEventListener?.(event, retry);
  const pause = (performance.now() - failedAt) / 4;
  const timer = setTimeout(retry, Math.min(Math.max(pause, MIN_PAUSE_MS), MAX_PAUSE_MS));
  return stop;
}
