/**
 * Which states of a counter are kept for charts: the last of each hour, and of each minute in which it was busy.
 *
 * A publish in a later minute or hour replaces the last state of the one before. That state goes into the history in the
 * same commit, so the same guard holds for it.
 */
import { historyPlace, STEP_MILLIS, type StoredStep } from "../../core/src/index.ts";
import type { Config, Millis } from "./config.ts";
import type { Published } from "./counterDocument.ts";
import { isSparse } from "./interval.ts";

/** A state that a publish replaces: where it is kept, and until when. */
export interface Kept {
  readonly state: Published;
  /** The id of the document. */
  readonly id: string;
  /** The key in its `points`. */
  readonly key: string;
  readonly expireAt: Millis;
}

/** Where the previous state is kept, if it is. Of a counter that was never published there is none. */
export function keptBy(previous: Published | undefined, next: Published, { historyRetention }: Config): Kept[] {
  if (!previous || historyRetention === 0) return [];
  const isOver = (step: StoredStep) => isLater(step, previous.asOf, next.asOf);
  // Minutes of a counter that is rarely written would cost as much as its totals.
  const steps = (["minute", "hour"] as const).filter(
    (step) => isOver(step) && (step === "hour" || previous.minuteInHistory),
  );
  return steps.map((step) => {
    const { id, key, end } = historyPlace(step, previous.asOf);
    return { state: previous, id, key, expireAt: end + historyRetention };
  });
}

/**
 * Whether the minute of a publish is one in which the counter was busy. The rate alone is not enough: after the last
 * write, a publish with rate 0 may follow in the same minute.
 */
export function isMinuteInHistory(
  previous: Published | undefined,
  { rate, asOf }: Pick<Published, "rate" | "asOf">,
  config: Config,
): boolean {
  const wasBusy = previous?.minuteInHistory === true && !isLater("minute", previous.asOf, asOf);
  return wasBusy || !isSparse(rate, config);
}

function isLater(step: StoredStep, before: Millis, after: Millis): boolean {
  const length = STEP_MILLIS[step];
  return Math.floor(after / length) > Math.floor(before / length);
}
