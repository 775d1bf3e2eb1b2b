/**
 * How many increments to send now for a steady rate, at any timing of timers. A backlog of more than 250 ms is dropped: a
 * slow browser would send bursts otherwise.
 */
export interface SteadyRate {
  /** The fraction of an increment that is left over, below 1. */
  readonly fraction: number;
  /** Milliseconds. */
  readonly at: number;
}

const MAX_BACKLOG_MS = 250;

export function takeDue(state: SteadyRate, perSecond: number, now: number): { count: number; state: SteadyRate } {
  const passed = Math.min(now - state.at, MAX_BACKLOG_MS);
  const due = state.fraction + (passed * perSecond) / 1_000;
  const count = Math.floor(due);
  return { count, state: { fraction: due - count, at: now } };
}
