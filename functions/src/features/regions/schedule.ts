/**
 * When a counter is brought to the other regions.
 *
 * A publish schedules the exchange that brings it, before it is made, unless one is scheduled already. So exchanges follow
 * writes, and a counter without writes costs nothing. `exchangeAt` in the counter document is the instant of the last one that was
 * scheduled.
 */
import type { ScheduledTask } from "../../counter/cause.ts";
import type { Millis } from "../../counter/time.ts";
import type { FeaturePlan, PlannedPublish, Published } from "../../counter/types.ts";
import type { Config } from "../config.ts";

declare module "../../counter/cause.ts" {
  interface TaskKinds {
    /** Brings the total to the other regions. */
    readonly exchange: true;
    /** Brings the sketch of visitors. */
    readonly exchangeVisitors: true;
  }
  interface CounterTask {
    /** Since when a region could not be reached, if this exchange is another attempt. */
    readonly failingSince?: Millis;
  }
}

declare module "../../counter/types.ts" {
  interface Published {
    /** When the last exchange with other regions is due that a publish has scheduled; `undefined` without other regions. */
    readonly exchangeAt: Millis | undefined;
  }
}

export const exchangePlan = {
  name: "regions",
  next(planned, { regions, exchangeInterval }: Config) {
    const before = planned.previous?.exchangeAt;
    if (!regions) return { exchangeAt: undefined };
    const isNeeded = needsExchange(planned);
    return { exchangeAt: isNeeded ? nextExchangeAt(before, planned.next.asOf, { exchangeInterval }) : before };
  },
  tasks: (previous, { exchangeAt }) => (exchangeAt === previous?.exchangeAt ? [] : exchangeTasks(exchangeAt)),
  missedTasks: (published, updatedAt) => exchangeTasks(missedExchangeAt(published, updatedAt)),
} satisfies FeaturePlan;

/** The task of the exchange that is due then, if there is one. */
function exchangeTasks(due: Millis | undefined): readonly ScheduledTask[] {
  return due === undefined ? [] : [{ due, kind: "exchange" }];
}

/**
 * Whether this publish must reach the other regions: the total or the windows have changed, or they may have missed the last publish. A
 * reset may cancel what was added since, in the total alone.
 */
function needsExchange({ previous, next, added, updatedAt }: PlannedPublish): boolean {
  if (next.total !== previous?.total || added !== 0 || previous.exchangeAt === undefined) return true;
  return updatedAt !== undefined && missedExchangeAt(previous, updatedAt) !== undefined;
}

/** Most publishes are committed so soon after the instant that they are exact for. */
const USUAL_COMMIT: Millis = 200;

/** The instant of the exchange that brings a publish. @param previous  that of the last publish, if it has one */
export function nextExchangeAt(
  previous: Millis | undefined,
  asOf: Millis,
  { exchangeInterval }: Pick<Config, "exchangeInterval">,
): Millis {
  if (previous === undefined) return Math.ceil(asOf + USUAL_COMMIT);
  // A later time comes from a clock that was wrong.
  const latest = asOf + exchangeInterval + USUAL_COMMIT;
  if (previous > asOf && previous <= latest) return previous;
  return Math.ceil(Math.min(Math.max(asOf + USUAL_COMMIT, previous + exchangeInterval), latest));
}

/**
 * When another exchange is due, if the publish was committed so late that the scheduled one may have read the document before it;
 * else `undefined`. If it was another region that has written the document, this exchange is one too many.
 *
 * @param updatedAt  when the document was written
 */
export function missedExchangeAt(
  { exchangeAt, asOf }: Pick<Published, "exchangeAt" | "asOf">,
  updatedAt: Millis,
): Millis | undefined {
  const brings = exchangeAt !== undefined && exchangeAt > asOf;
  return brings && updatedAt >= exchangeAt ? Math.ceil(updatedAt) : undefined;
}

/** The shortest and the longest time between two attempts to reach a region. */
const FIRST_PAUSE: Millis = 2_000;
const LAST_PAUSE: Millis = 64_000;

/** The longer a region could not be reached, the longer the pause: up to this share of the time. */
const PAUSE_SHARE = 1 / 16;

/**
 * The next attempt to reach a region. Instants are multiples of the pause, and each pause is a multiple of the shorter ones. So
 * attempts of one counter that began at different times become one task.
 */
export function nextAttemptAt(failingSince: Millis, now: Millis): Millis {
  const wanted = Math.min((now - failingSince) * PAUSE_SHARE, LAST_PAUSE);
  let pause = FIRST_PAUSE;
  while (pause * 2 <= wanted) pause *= 2;
  return (Math.floor(now / pause) + 1) * pause;
}
