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
}

/** Each at its usual length, unless told otherwise. */
export function loads(seconds?: number): Load[] {
  const steady = (name: string, perSecond: number, clients: number): Load => {
    return { name, before: { perSecond, seconds: 5 }, measured: { perSecond, seconds: seconds ?? 15 }, clients };
  };
  return [
    // So seldom that the counter is at rest each time.
    {
      name: "idle",
      before: { perSecond: 0.5, seconds: 4 },
      measured: { perSecond: 0.5, seconds: seconds ?? 20 },
      clients: 4,
    },
    steady("10/s", 10, 20),
    steady("100/s", 100, 100),
    steady("1000/s", 1_000, 1_000),
    {
      name: "1 to 1000/s",
      before: { perSecond: 1, seconds: 5 },
      measured: { perSecond: 1_000, seconds: seconds ?? 15 },
      clients: 1_000,
    },
  ];
}

/** Milliseconds from the start of the load, of each increment. */
export function arrivals({ before, measured }: Load): number[] {
  return [...every(before, 0), ...every(measured, before.seconds * 1_000)];
}

function every({ perSecond, seconds }: Phase, from: number): number[] {
  return Array.from({ length: Math.round(perSecond * seconds) }, (_, n) => from + (n * 1_000) / perSecond);
}
