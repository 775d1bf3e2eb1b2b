/**
 * The loads that are offered, and the instants of their increments. They are fixed beforehand, whatever becomes of the
 * increments: a contender that is slow is not asked for less, and what it makes wait counts from when it was asked.
 */

/** A rate that is offered for a while. */
export interface Phase {
  readonly perSecond: number;
  readonly seconds: number;
}

export interface Load {
  readonly name: string;
  /** What comes before the measurement: at the same rate, so that it is of something that lasts; or before a step. */
  readonly before: Phase;
  readonly measured: Phase;
  /** Clients there are at first. More come if many wait (`population.ts`). */
  readonly clients: number;
  /** Counters that take turns. */
  readonly counters: number;
}

/**
 * @param seconds  how long each is measured, unless it is as long as usual
 * @param slow     whether a machine has the time for as many clients as a crowd has: those whose first write waits for a
 *                 crowded shard make no other
 */
export function loads(seconds?: number, slow = false): Load[] {
  const crowd = slow ? 6_000 : 1_000;
  const load = (name: string, from: number, to: number, clients: number, usual: number): Load => {
    const before = { perSecond: from, seconds: 5 };
    return { name, before, measured: { perSecond: to, seconds: seconds ?? usual }, clients, counters: 1 };
  };
  return [
    // Each counter is made before and then incremented every 12 seconds: Tally's are at rest after ten.
    {
      name: "idle",
      before: { perSecond: 1, seconds: 12 },
      measured: { perSecond: 1, seconds: seconds ?? 12 },
      clients: 12,
      counters: 12,
    },
    load("10/s", 10, 10, 20, 10),
    load("100/s", 100, 100, 500, 10),
    load("1000/s", 1_000, 1_000, crowd, 6),
    // A post that goes viral.
    load("1 to 100/s", 1, 100, 500, 12),
    load("1 to 1000/s", 1, 1_000, crowd, slow ? 12 : 8),
  ];
}

/** Milliseconds from the start of the load, of each increment. */
export function arrivals({ before, measured }: Pick<Load, "before" | "measured">): number[] {
  return [...every(before, 0), ...every(measured, before.seconds * 1_000)];
}

function every({ perSecond, seconds }: Phase, from: number): number[] {
  return Array.from({ length: Math.round(perSecond * seconds) }, (_, n) => from + (n * 1_000) / perSecond);
}
