/** Calls to Firestore whose outcome may be unknown, tried until it is known. */
import { setTimeout } from "node:timers/promises";
import { codeOf } from "../../core/src/index.ts";

/** Cancelled, unknown, deadline exceeded, resource exhausted, aborted, internal, unavailable: it may have happened. */
const TRANSIENT = [1, 2, 4, 8, 10, 13, 14];

/** Longest wait between two tries. */
const MAX_BACKOFF_MS = 10_000;

/** Credentials that cannot be had come as "unknown", too, but no call was sent. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.includes(codeOf(error) ?? -1) && !String(error).includes("metadata from plugin");
}

/** Tries after which, for once, somebody is told: about half a minute. */
const LONG = 9;

/** Waits before the next try: exponentially longer, with full jitter. */
export async function backoff(attempt: number, error: unknown): Promise<void> {
  if (attempt === LONG) console.warn("firestore-tally: a call has not got through for a while; still trying.", error);
  await setTimeout(Math.random() * Math.min(100 * 2 ** attempt, MAX_BACKOFF_MS));
}

/** Tries until the outcome is known. What it tries must be safe to repeat. */
export async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTransient(error)) throw error;
      await backoff(tries, error);
    }
  }
}
