/** Milliseconds: a duration, or an instant since the epoch. No Firebase import, like the decisions that use it. */
export type Millis = number;

/** Milliseconds with a fraction: exact to a quarter of a microsecond, finer than Firestore's clock. */
export function toMillis(timestamp: { readonly seconds: number; readonly nanoseconds: number }): Millis {
  return timestamp.seconds * 1_000 + timestamp.nanoseconds / 1e6;
}

/**
 * Waits for a duration by the clock `now`; not at all if it is not positive. A timer may fire early by that clock, and a task
 * that ran a millisecond early would have to be scheduled again.
 */
export async function sleep(duration: Millis, now: () => Millis = Date.now): Promise<void> {
  const end = now() + duration;
  for (let left = duration; left > 0; left = end - now()) {
    await new Promise((resolve) => setTimeout(resolve, Math.ceil(left)));
  }
}
