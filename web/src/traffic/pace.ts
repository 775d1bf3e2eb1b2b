/**
 * How many increments to begin now, for a steady rate whenever timers happen to fire. What a slow browser could not begin
 * in time is not made up for later, or it would send bursts.
 */
export interface Pace {
  /** What is owed from before, below one. */
  readonly owed: number;
  readonly at: number;
}

/** The most that is made up for. */
const LATE_MS = 250;

export function due(pace: Pace, perSecond: number, now: number): { begin: number; pace: Pace } {
  const passed = Math.min(now - pace.at, LATE_MS);
  const owed = pace.owed + (passed * perSecond) / 1_000;
  const begin = Math.floor(owed);
  return { begin, pace: { owed: owed - begin, at: now } };
}
