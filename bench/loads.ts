/**
 * The loads of the contest, and when each increment is due. Due times are fixed in advance: a slow approach is not offered
 * less, and its delays count from when the increment was due.
 */

/** A rate that is offered for some time. */
export interface Rate {
  readonly perSecond: number;
  readonly seconds: number;
}

export interface Load {
  readonly name: string;
  /** Before the measurement: the same rate, so that a steady state is measured; or the rate before a step. */
  readonly before: Rate;
  readonly measured: Rate;
  /** Clients at the start. More join if many are waiting (`clientPool.ts`). */
  readonly clients: number;
  /** Counters that take turns. */
  readonly counters: number;
}

/**
 * @param slow  whether slow motion gives the machine time for the clients of a crowd, of which those that wait for a crowded shard
 *              make no further increment
 */
export function contestLoads(slow = false): Load[] {
  const crowd = slow ? 6_000 : 1_000;
  const load = (
    name: string,
    from: number,
    to: number,
    clients: number,
    seconds: number,
    before = 5,
    counters = 1,
  ) => ({
    ...{ name, clients, counters, before: { perSecond: from, seconds: before } },
    measured: { perSecond: to, seconds },
  });
  return [
    // Each counter is incremented every 12 seconds: Tally's counters are idle after ten.
    load("idle", 1, 1, 12, 12, 12, 12),
    load("10/s", 10, 10, 20, 10),
    load("100/s", 100, 100, 500, 10),
    load("1000/s", 1_000, 1_000, crowd, 6),
    // A post that goes viral.
    load("1 to 100/s", 1, 100, 500, 12),
    load("1 to 1000/s", 1, 1_000, crowd, slow ? 12 : 8),
  ];
}

/** What only starts functions and clients. */
export function warmUp(counters: number): Load {
  const before = { perSecond: 0, seconds: 0 };
  return { name: "warm-up", clients: 20, counters, before, measured: { perSecond: 20, seconds: 3 } };
}

/**
 * The traffic that `--only costs` prices: calm counters by pages that increment once, everyday rates for two minutes, two busy ones, and
 * counters that are incremented once.
 */
export function costLoads(): Load[] {
  const load = (perSecond: number, seconds: number, clients: number): Load => ({
    ...{ name: `${perSecond}/s`, clients, counters: 1, before: { perSecond: 0, seconds: 0 } },
    measured: { perSecond, seconds },
  });
  /** So many counters that together have about one increment a second. */
  const calm = (perSecond: number, seconds: number, counters: number): Load => {
    const { measured, ...others } = load(perSecond * counters, seconds, 5);
    return { ...others, name: `${perSecond}/s`, measured, counters, clients: measured.perSecond * measured.seconds };
  };
  // The emulator may not tell a watch that begins of a write in the same moment.
  const once = { ...load(10, 20, 20), before: { perSecond: 0, seconds: 2 } };
  return [
    ...[calm(0.01, 300, 100), calm(0.1, 120, 10), calm(0.3, 120, 5)],
    ...[load(0.5, 120, 5), load(1, 120, 10), load(10, 40, 20), load(100, 30, 20)],
    { ...once, name: "once each", counters: once.measured.perSecond * once.measured.seconds },
  ];
}

/** When each increment is due, in milliseconds from the start of the load. */
export function dueTimes({ before, measured }: Pick<Load, "before" | "measured">): number[] {
  return [...evenly(before, 0), ...evenly(measured, before.seconds * 1_000)];
}

function evenly({ perSecond, seconds }: Rate, from: number): number[] {
  return Array.from({ length: Math.round(perSecond * seconds) }, (_, n) => from + (n * 1_000) / perSecond);
}
