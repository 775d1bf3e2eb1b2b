/**
 * When a counter is pushed to the other regions.
 *
 * A publish schedules the exchange that pushes it, before it is made, unless one is scheduled already. So exchanges follow
 * writes, and a counter without writes costs nothing. `exchangeAt` in the counter document is the instant of the last one that was
 * scheduled.
 */
import { MAX_TASK_DELAY, type ScheduledTask } from "../../counter/cause.ts";
import type { Millis } from "../../counter/time.ts";
import type { PlannedPublish, Published } from "../../counter/types.ts";
import type { FeaturePlan } from "../../shared/feature.ts";
import { intervalsOf } from "./intervals.ts";
import { parseRegions, type RegionSettings } from "./parseRegions.ts";

declare module "../../counter/cause.ts" {
  interface TaskKinds {
    /** Pushes the total to the other regions. */
    readonly exchange: true;
    /** Pushes the sketch of visitors. */
    readonly exchangeVisitors: true;
  }
}

declare module "../../counter/types.ts" {
  interface FeatureSettings {
    /** The databases that count the same counters, if there are several. */
    readonly regions: RegionSettings | undefined;
  }
  interface FeatureFields {
    readonly regions: {
      /** When the last exchange with other regions is due that a publish has scheduled; `undefined` without other regions. */
      readonly exchangeAt: Millis | undefined;
    };
  }
}

export const regionsPlan = {
  name: "regions",
  needs: ["windows", "visitors"],
  tableRows: { "[several regions](regions.md)": "REGIONS" },
  parameters: {
    REGIONS: {
      default: "",
      label: "Regions",
      description:
        "Where an app has one database per region: the regions that count the same counters, and their databases, such as " +
        "us=(default), eu=tally-eu. The one with DATABASE_ID is this deployment's own. Empty: one region alone.",
      accepted: "`name=database` or `name=project/database` for each region, with commas; names in lower case",
    },
    EXCHANGE_SECONDS: {
      default: "1",
      label: "Seconds between exchanges",
      description:
        "A total is never pushed to the other regions more often than this, nor than every two seconds for each other region.",
      accepted: "from 1 to 3,000; higher: exchanges of busy counters cost less",
      range: [1, MAX_TASK_DELAY / 1_000],
    },
  },
  settings(values, { minInterval, maxInterval }) {
    const entered = { minInterval, maxInterval, exchangeInterval: values.number("EXCHANGE_SECONDS") * 1_000 };
    const regions = parseRegions(values.text("REGIONS"), values.text("DATABASE_ID"), values.project);
    if (!regions) return { regions };
    const { exchangeInterval, ...intervals } = intervalsOf(entered, 1 + regions.others.length);
    return { ...intervals, regions: { ...regions, exchangeInterval } };
  },
  functions: {
    exchange: {
      does: "Brings totals to the other regions.",
      without: "other regions do not get the totals",
      askedForBy: "REGIONS",
      trigger: { on: "task", kinds: ["exchange", "exchangeVisitors"] },
    },
  },
  groupsThatNeedPublishes: ({ regions }) => (regions ? "all" : []),
  needsPublishes: (_state, { regions }) => regions !== undefined,
  fieldsAfter(planned, { regions }) {
    const before = planned.previous?.regions?.exchangeAt;
    if (!regions) return { exchangeAt: undefined };
    return { exchangeAt: needsExchange(planned) ? nextExchangeAt(before, planned.next.asOf, regions) : before };
  },
  tasks(previous, { regions }) {
    const due = regions?.exchangeAt;
    return due === previous?.regions?.exchangeAt ? [] : exchangeTasks(due);
  },
  follows: (kind, { regions }) => (kind === "mergeVisitors" && regions ? "exchangeVisitors" : undefined),
  missedTasks: (published, updatedAt) => exchangeTasks(missedExchangeAt(published, updatedAt)),
} satisfies FeaturePlan<"regions">;

/** The task of the exchange that is due then, if there is one. */
function exchangeTasks(due: Millis | undefined): readonly ScheduledTask[] {
  return due === undefined ? [] : [{ due, kind: "exchange" }];
}

/**
 * Whether this publish must reach the other regions: the total or the windows have changed, or they may have missed the last publish. A
 * reset may cancel what was added since, in the total alone.
 */
function needsExchange({ previous, next, added, updatedAt }: PlannedPublish): boolean {
  if (next.total !== previous?.total || added !== 0 || previous.regions?.exchangeAt === undefined) return true;
  return updatedAt !== undefined && missedExchangeAt(previous, updatedAt) !== undefined;
}

/** Most publishes are committed so soon after the instant that they are exact for. */
const USUAL_COMMIT: Millis = 200;

/** The instant of the exchange that pushes a publish. @param previous  that of the last publish, if it has one */
export function nextExchangeAt(
  previous: Millis | undefined,
  asOf: Millis,
  { exchangeInterval }: Pick<RegionSettings, "exchangeInterval">,
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
  { regions: { exchangeAt } = { exchangeAt: undefined }, asOf }: Pick<Published, "regions" | "asOf">,
  updatedAt: Millis,
): Millis | undefined {
  const isPushed = exchangeAt !== undefined && exchangeAt > asOf;
  return isPushed && updatedAt >= exchangeAt ? Math.ceil(updatedAt) : undefined;
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
