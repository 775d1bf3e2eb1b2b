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
import type { CorePublished, CounterSettings, Published } from "../../counter/types.ts";
import type { FeaturePlan, Settings } from "../../shared/feature.ts";
import { GROUPS, type Groups, isIn, parseGroups } from "../../shared/groups.ts";
import { windowEnds } from "../windows/windowsPlan.ts";

declare module "../../counter/types.ts" {
  interface FeatureSettings {
    readonly history: {
      /** The counters whose past totals are kept. */
      readonly groups: Groups;
      /** How long they are kept. */
      readonly retention: Millis;
    };
  }
  interface FeatureFields {
    readonly history: {
      /** Whether the minute of `asOf` gets a point in the history. */
      readonly hasMinute: boolean;
    };
  }
}

export const historyPlan = {
  name: "history",
  needs: ["windows"],
  parameters: {
    HISTORY: {
      ...GROUPS,
      label: "History",
      description: "The groups whose past totals are kept, for charts: as in WINDOWS. Empty: none.",
      accepted: "groups, as for `WINDOWS`",
    },
    HISTORY_DAYS: {
      default: "30",
      label: "History (days)",
      description: "How many days the past totals of each minute and hour are kept.",
      accepted: "from 1 to 3,650",
      range: [1, 3_650],
    },
  },
  settings: (values) => ({
    history: {
      groups: parseGroups(values.text("HISTORY"), "HISTORY"),
      retention: values.number("HISTORY_DAYS") * DAY,
    },
  }),
  groupsThatNeedPublishes: ({ history }) => history.groups,
  needsPublishes: ({ ref }, { history }) => isIn(history.groups, ref?.id),
  fieldsAfter: ({ ref, previous, next }, config) => ({
    hasMinute: isIn(config.history.groups, ref?.id) && isMinuteInHistory(previous, next, config),
  }),
} satisfies FeaturePlan<"history">;

const DAY: Millis = 86_400_000;

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
  settings: Settings,
  counterId?: string,
): HistoryWrite[] {
  const { groups, retention } = settings.history;
  if (!previous || !isIn(groups, counterId)) return [];
  const isOver = (step: StoredStep) => isLater(step, previous.asOf, next.asOf);
  // The minutes of a sparse counter would cost as much as its totals.
  const steps = (["minute", "hour"] as const).filter(
    (step) => isOver(step) && (step === "hour" || previous.history?.hasMinute),
  );
  const write = (step: StoredStep, suffix = "") => {
    const { id, key, end } = historyPlace(step, previous.asOf);
    return { state: previous, id, key: key + suffix, expireAt: end + retention };
  };
  const writes = steps.map((step) => write(step));
  return endsDayWithinHour(previous, next, settings.windows) ? [...writes, write("hour", DAY_END)] : writes;
}

/** Whether a day has ended and the hour has not, as in India at 18:30 UTC. */
function endsDayWithinHour(previous: Published, next: CorePublished, { timeZone }: Settings["windows"]): boolean {
  return !isLater("hour", previous.asOf, next.asOf) && windowEnds(previous.asOf, timeZone).day <= next.asOf;
}

/**
 * Whether the minute of a publish gets a point in the history: if any publish in it was of a counter that is not sparse. The
 * rate of the last one is not enough, since it may be 0 soon after the last write.
 */
export function isMinuteInHistory(
  previous: Published | undefined,
  { rate, asOf }: Pick<Published, "rate" | "asOf">,
  settings: Pick<CounterSettings, "maxInterval">,
): boolean {
  const wasInHistory = previous?.history?.hasMinute === true && !isLater("minute", previous.asOf, asOf);
  return wasInHistory || !isSparse(rate, settings);
}

function isLater(step: StoredStep, before: Millis, after: Millis): boolean {
  const length = STEP_MILLIS[step];
  return Math.floor(after / length) > Math.floor(before / length);
}
