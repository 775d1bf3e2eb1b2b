/**
 * Statistics of samples. Percentiles are exact, over all samples. What did not happen before the measurement ended counts as
 * `Infinity`; left out, it would make the results better the more increments fail.
 */

/** Milliseconds: a duration, or since the epoch. */
export type Millis = number;

/** The times of one increment. */
export interface Sample {
  /** When it was due. */
  readonly intended: Millis;
  /** When its promise resolved; `Infinity` if it did not. */
  readonly acknowledged: Millis;
}

/** A total that a watcher saw, and when. */
export interface Observation {
  readonly at: Millis;
  readonly total: number;
}

export interface Percentiles {
  readonly p50: Millis;
  readonly p95: Millis;
  readonly p99: Millis;
}

/** The value below which a share of the samples lies. */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(Math.ceil(share * sorted.length), sorted.length) - 1] ?? Number.NaN;
}

export function percentilesOf(values: readonly number[]): Percentiles {
  return { p50: percentile(values, 0.5), p95: percentile(values, 0.95), p99: percentile(values, 0.99) };
}

/**
 * How long after the n-th of some instants, in ascending order, the watcher's total reached n. Each increment adds 1.
 *
 * @param from  the position of the first instant whose delay is returned; the total includes the earlier ones
 */
export function visibilityDelays(instants: readonly Millis[], sights: readonly Observation[], from = 0): Millis[] {
  let seen = 0;
  return instants
    .map((instant, n) => {
      while (seen < sights.length && (sights[seen] as Observation).total <= n) seen++;
      return Math.max((sights[seen]?.at ?? Number.POSITIVE_INFINITY) - instant, 0);
    })
    .slice(from);
}

/** How long a second the sliding window is, and by how much it slides. */
const WINDOW: Millis = 1_000;
const SLIDE: Millis = 100;

/**
 * How long after an instant increments are acknowledged within `limit` again: until the end of the last window in which the
 * 95th percentile exceeded it. An increment belongs to the windows in which it was due.
 *
 * @returns `Infinity` if the last window still was
 */
export function recoveryTime(samples: readonly Sample[], from: Millis, limit: Millis): Millis {
  const inOrder = samples.filter(({ intended }) => intended >= from).sort((a, b) => a.intended - b.intended);
  const lastStart = Math.max((inOrder.at(-1)?.intended ?? from) - WINDOW, from);
  const isSlow = (start: Millis) => {
    const window = inOrder.filter(({ intended }) => intended >= start && intended < start + WINDOW);
    return (
      percentile(
        window.map(({ intended, acknowledged }) => acknowledged - intended),
        0.95,
      ) > limit
    );
  };
  if (isSlow(lastStart)) return Number.POSITIVE_INFINITY;
  let absorbed = 0;
  for (let start = from; start < lastStart; start += SLIDE) {
    if (isSlow(start)) absorbed = start + WINDOW - from;
  }
  return absorbed;
}

/** What happened in one second. */
export interface Second {
  /** When it began, in whole seconds after an instant; before it, less than 0. */
  readonly at: number;
  /** Increments that were due in this second, and acknowledgements in it. */
  readonly offered: number;
  readonly acknowledged: number;
}

/**
 * Second by second, from the first increment to the last acknowledgement, those in which nothing happened included.
 *
 * @param from  the instant that seconds are counted from
 */
export function timelineOf(samples: readonly Sample[], from: Millis): Second[] {
  const perSecond = (instants: readonly Millis[]) => {
    const counts = new Map<number, number>();
    for (const instant of instants.filter(Number.isFinite)) {
      const at = Math.floor((instant - from) / 1_000);
      counts.set(at, (counts.get(at) ?? 0) + 1);
    }
    return counts;
  };
  const offered = perSecond(samples.map(({ intended }) => intended));
  const acknowledged = perSecond(samples.map((sample) => sample.acknowledged));
  const seconds = [...offered.keys(), ...acknowledged.keys()].sort((a, b) => a - b);
  const [first = 0, last = first - 1] = [seconds[0], seconds.at(-1)];
  return Array.from({ length: last - first + 1 }, (_, n) => {
    const at = first + n;
    return { at, offered: offered.get(at) ?? 0, acknowledged: acknowledged.get(at) ?? 0 };
  });
}
