/** Retries calls to Firestore until their outcome is known. */
import { setTimeout } from "node:timers/promises";
import { codeOf } from "../../core/src/index.ts";

/** Cancelled, unknown, deadline exceeded, resource exhausted, aborted, internal, unavailable: the call may have succeeded. */
const TRANSIENT = [1, 2, 4, 8, 10, 13, 14];

/** The longest wait between two attempts. */
const MAX_BACKOFF_MS = 10_000;

/** Missing credentials also come as "unknown", but then no call was sent. */
function isTransient(error: unknown): boolean {
  return TRANSIENT.includes(codeOf(error) ?? -1) && !String(error).includes("metadata from plugin");
}

/** The attempt that logs a warning, after half a minute of waits at most. */
const WARNING_ATTEMPT = 9;

/** Waits before the next attempt: exponential backoff with full jitter. */
export async function backoff(attempt: number, error: unknown): Promise<void> {
  if (attempt === WARNING_ATTEMPT)
    console.warn("firestore-tally: a call to Firestore has failed ten times and is still retried.", error);
  await setTimeout(Math.random() * Math.min(100 * 2 ** attempt, MAX_BACKOFF_MS));
}

/** Repeats `attempt` while it fails with an unknown outcome. It must be safe to repeat. */
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
