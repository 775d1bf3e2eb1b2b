import type { Millis } from "./config.ts";

/**
 * Waits for a duration by the clock `now`; not at all if there is nothing to wait for.
 *
 * A timer counts another clock, in whole milliseconds, and may go off early by `now`. A task that ran a millisecond before
 * it was due would find its counter not due yet, and would have to be scheduled again.
 */
export async function sleep(duration: Millis, now: () => Millis = Date.now): Promise<void> {
  const end = now() + duration;
  for (let left = duration; left > 0; left = end - now()) {
    await new Promise((resolve) => setTimeout(resolve, Math.ceil(left)));
  }
}
