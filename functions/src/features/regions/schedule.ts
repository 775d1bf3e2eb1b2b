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
}

declare module "../../counter/types.ts" {
  interface Published {
    /** When the last exchange with other regions is due that a publish has scheduled; `undefined` without other regions. */
    readonly exchangeAt: Millis | undefined;
  }
}

export const regionsPlan = {
  name: "regions",
  needsPublishes: (_state, { regions }: Config) => regions !== undefined,
  fieldsAfter(planned, { regions, exchangeInterval }: Config) {
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

/** How late an exchange may be. */
const LONGEST_DELAY: Millis = 60_000;

/** Whether an exchange that was due then must have been made by now. */
export function isOverdue(due: Millis | undefined, now: Millis): boolean {
  return due !== undefined && now - due > LONGEST_DELAY;
}

/**
 * Whether a region lacks a publish. Most publishes that change no total have no exchange, so a register with the same total may be older.
 *
 * @param arrived  what the region has of the one that has published
 */
export function isExchangeLost(
  { total, asOf }: Pick<Published, "total" | "asOf">,
  arrived: { readonly total: number; readonly asOf: Millis } | undefined,
): boolean {
  return total !== (arrived?.total ?? 0) && asOf > (arrived?.asOf ?? 0);
}
