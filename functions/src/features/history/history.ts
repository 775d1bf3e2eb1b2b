/**
 * Which states of a counter the history keeps for charts: the last of each hour, the last of each day of the time zone, and
 * the last of each minute in which the counter was not sparse.
 *
 * A publish in a later minute or hour replaces the last state of the one before. The same commit writes that state to the
 * history, so the same precondition protects both.
 */
import { DAY_END, historyPlace, STEP_MILLIS, type StoredStep } from "../../../../core/src/index.ts";
import { isSparse } from "../../counter/interval.ts";
import type { Millis } from "../../counter/time.ts";
import type { CorePublished, CounterConfig, FeaturePlan, Published } from "../../counter/types.ts";
import type { Config } from "../config.ts";
import { isIn } from "../groups.ts";
import { windowEnds } from "../windows/windows.ts";

declare module "../../counter/types.ts" {
  interface Published {
    /** Whether the minute of `asOf` gets a point in the history. */
    readonly minuteInHistory: boolean;
  }
}

export const historyPlan = {
  name: "history",
  needsPublishes: ({ ref }, { historyGroups }: Config) => isIn(historyGroups, ref?.id),
  fieldsAfter: ({ ref, previous, next }, config: Config) => ({
    minuteInHistory: isIn(config.historyGroups, ref?.id) && isMinuteInHistory(previous, next, config),
  }),
} satisfies FeaturePlan;

/** A state to be written to the history. */
export interface HistoryWrite {
  readonly state: Published;
  /** The id of the document, and the key in its `points`. */
  readonly id: string;
  readonly key: string;
  readonly expireAt: Millis;
}

/**
 * Where the history keeps the state that `next` replaces: in no place, one or two.
 *
 * @param counterId  `undefined` for a counter that stands for all
 */
export function historyWrites(
  previous: Published | undefined,
  next: CorePublished,
  config: Config,
  counterId?: string,
): HistoryWrite[] {
  const { historyGroups, historyRetention } = config;
  if (!previous || !isIn(historyGroups, counterId)) return [];
  const isOver = (step: StoredStep) => isLater(step, previous.asOf, next.asOf);
  // The minutes of a sparse counter would cost as much as its totals.
  const steps = (["minute", "hour"] as const).filter(
    (step) => isOver(step) && (step === "hour" || previous.minuteInHistory),
  );
  const write = (step: StoredStep, suffix = "") => {
    const { id, key, end } = historyPlace(step, previous.asOf);
    return { state: previous, id, key: key + suffix, expireAt: end + historyRetention };
  };
  const writes = steps.map((step) => write(step));
  return endsDayWithinHour(previous, next, config) ? [...writes, write("hour", DAY_END)] : writes;
}

/** Whether a day has ended and the hour has not, as in India at 18:30 UTC. */
function endsDayWithinHour(previous: Published, next: CorePublished, { timeZone }: Pick<Config, "timeZone">): boolean {
  return !isLater("hour", previous.asOf, next.asOf) && windowEnds(previous.asOf, timeZone).day <= next.asOf;
}

/**
 * Whether the minute of a publish gets a point in the history: if any publish in it was of a counter that is not sparse. The
 * rate of the last one is not enough, since it may be 0 soon after the last write.
 */
export function isMinuteInHistory(
  previous: Published | undefined,
  { rate, asOf }: Pick<Published, "rate" | "asOf">,
  config: CounterConfig,
): boolean {
  const wasInHistory = previous?.minuteInHistory === true && !isLater("minute", previous.asOf, asOf);
  return wasInHistory || !isSparse(rate, config);
}

function isLater(step: StoredStep, before: Millis, after: Millis): boolean {
  const length = STEP_MILLIS[step];
  return Math.floor(after / length) > Math.floor(before / length);
}
