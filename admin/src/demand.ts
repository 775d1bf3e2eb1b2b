/**
 * How many uses of a rate limit a process asks for in advance, and when it asks again: from its own calls for the key, the refused
 * ones included, so that processes share a limit in proportion to what is asked of them.
 *
 * A lease is a little smaller than what the process will probably use before the lease ends, because the rest is lost. And it is
 * no larger than what the process has used shortly before, so a single burst of calls reserves nothing.
 */
type Millis = number;

/** The calls of a process for one key, as an average over about a second. */
export interface Demand {
  /** The time of the first call. */
  readonly since: Millis;
  /** The time of the last call. */
  readonly at: Millis;
  /** The sum of the amounts, each weighted by its age: it loses 63 % per second. */
  readonly recent: number;
}

const MEMORY: Millis = 1_000;

/** The shortest time over which an average tells anything. */
const MIN_AGE: Millis = 100;

/** How many calls share a look at the document where a limit is exhausted. */
const CALLS_PER_LOOK = 40;

/** A process that contends with others for a document spends about a fifth of its time on that. */
const PAUSE_PER_LOOK = 4;

export function recordCall(demand: Demand | undefined, n: number, now: Millis): Demand {
  return { since: demand?.since ?? now, at: now, recent: (demand ? recentAt(demand, now) : 0) + n };
}

/** Uses per millisecond. */
function demandRate(demand: Demand, now: Millis): number {
  const age = Math.max(now - demand.since, MIN_AGE);
  return recentAt(demand, now) / (MEMORY * (1 - Math.exp(-age / MEMORY)));
}

/**
 * How many uses to lease beyond those of the waiting calls.
 *
 * The number of random calls in a lease's life falls short of its mean by two standard deviations in 1 of 50 lives.
 *
 * @param waiting  the sum of the waiting calls, which are part of the demand
 * @param life     how long the lease may be used
 */
export function leaseSize(demand: Demand, waiting: number, now: Millis, life: Millis): number {
  const mean = demandRate(demand, now) * life;
  return Math.max(0, Math.floor(Math.min(mean - 2 * Math.sqrt(mean), recentAt(demand, now) - waiting)));
}

/**
 * How long a process waits that was leased less than half of what it asked for: until it needs many uses again. No capacity is
 * lost meanwhile, because less than the burst becomes free during a lease's life.
 *
 * @param took    how long the look at the document took
 * @param random  from 0 to 1; spreads the processes
 */
export function pauseAfter(demand: Demand, now: Millis, took: Millis, life: Millis, random: number): Millis {
  const wanted = Math.max(CALLS_PER_LOOK / demandRate(demand, now), PAUSE_PER_LOOK * took);
  return Math.min(wanted, life) * (0.75 + random / 4);
}

function recentAt({ recent, at }: Demand, now: Millis): number {
  return recent * Math.exp((at - now) / MEMORY);
}
