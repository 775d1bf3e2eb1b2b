/**
 * A time series of a counter: which history documents hold it, and its points. Shared by the web and the server SDK.
 *
 * The functions store the last state of a minute or an hour at the first publish after it ends. Until then the counter
 * document alone has that state. So the SDKs read the counter document first and the history afterwards: a state that leaves
 * the counter document in between is in the history. If one step has two states, the later one counts.
 */
import { CounterError } from "./errors.ts";
import { type HistoryState, historyPlace, STEP_MILLIS } from "./historyDocument.ts";
import { type CounterWindowTotals, windowTotals } from "./windows.ts";

/** The distance between two points of a series: a minute, an hour, or a day of the deployment's time zone. */
export type CounterHistoryStep = "minute" | "hour" | "day";

/** The range and the step of a time series. */
export interface CounterHistoryOptions {
  /** The earliest time of a point. */
  from: Date;
  /** The latest time of a point. */
  to: Date;
  /** At most one point for each step. `"minute"` has only minutes with at least one write in the longest interval. */
  step: CounterHistoryStep;
}

/** The state of a counter at one instant: the last publish of a minute, an hour or a day. */
export interface CounterHistoryPoint {
  /**
   * The instant for which `total` and `writes` are exact: within the step, usually near its end. If nothing was published since `from`, it is
   * `from`, and they are as last published.
   */
  readonly at: Date;
  /** The sum of all increments committed at or before `at`. */
  readonly total: number;
  /** How many writes were counted until then. Never falls; the difference between two points is the traffic in between. */
  readonly writes: number;
  /** Writes per second at that time. */
  readonly rate: number;
  /** How many shards writers chose from at that time. */
  readonly shardCount: number;
  /** How often the counter had been published. Never falls. */
  readonly publishes: number;
  /** What was counted in the day, the week and the month of `at`, until then. */
  readonly windows: CounterWindowTotals;
}

/** The fields of both SDKs' timestamps. Their own conversions to Date differ: one rounds down, the other up, into the next minute. */
interface TimestampFields {
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** The last millisecond whose year has four digits. */
const MAX_MILLIS = 253_402_300_799_999;

/**
 * The ids of the first and the last history document that may hold a point.
 *
 * @throws CounterError `counter/invalid-option`
 */
export function historyRange({ from, to, step }: CounterHistoryOptions): [first: string, last: string] {
  if (!Object.hasOwn(STEP_MILLIS, step)) throw invalid("step", step, '"minute", "hour" or "day"');
  const ids = Object.entries({ from, to }).map(([name, date]) => {
    if (!(date instanceof Date) || Number.isNaN(+date)) throw invalid(name, date, "a valid Date");
    return historyPlace(step === "minute" ? step : "hour", Math.min(Math.max(+date, 0), MAX_MILLIS)).id;
  });
  if (from > to) throw invalid("from", from.toISOString(), `a Date that is not after to, ${to.toISOString()}`);
  return ids as [string, string];
}

/**
 * The points in a time range, in order, at most one for each step. If nothing was published since the beginning of the range, the only
 * point is the last state before it, dated there.
 *
 * @param counter  the fields of the counter document, read before the history
 * @param history  the fields of the history documents
 */
export function historyPoints(
  counter: Partial<HistoryState<TimestampFields>> | undefined,
  history: readonly { readonly points?: Record<string, Partial<HistoryState<TimestampFields>>> }[],
  { from, to, step }: CounterHistoryOptions,
): CounterHistoryPoint[] {
  const states = [counter, ...history.flatMap(({ points }) => Object.values(points ?? {}))];
  const points = states.flatMap((state): [step: string | number, CounterHistoryPoint][] => {
    if (!state?.asOf) return [];
    const point = pointOf(state, state.asOf);
    if (point.at > to) return [];
    if (point.at >= from) return [[stepOf(point.at, step, state.windows?.timeZone), point]];
    const isLast = state === counter && from < new Date();
    return isLast ? [[0, { ...point, at: from, rate: 0, windows: windowTotals(state.windows, +from) }]] : [];
  });
  points.sort(([, a], [, b]) => +a.at - +b.at);
  return [...new Map(points).values()];
}

/** Names the minute, the hour or the day of an instant. */
function stepOf(at: Date, step: CounterHistoryStep, timeZone: string | undefined): string | number {
  return step === "day" ? dayOf(at, timeZone) : Math.floor(+at / STEP_MILLIS[step]);
}

/** The calendar day of an instant. A counter without windows has no time zone, so its days are those of UTC. */
function dayOf(at: Date, timeZone = "UTC"): string {
  try {
    return at.toLocaleDateString("en", { timeZone });
  } catch {
    // This browser does not know the time zone.
    return dayOf(at);
  }
}

function pointOf(state: Partial<HistoryState<TimestampFields>>, asOf: TimestampFields): CounterHistoryPoint {
  const { total = 0, writes = 0, rate = 0, shardCount = 1, publishes = 0 } = state;
  const at = new Date(asOf.seconds * 1_000 + Math.floor(asOf.nanoseconds / 1e6));
  return { at, total, writes, rate, shardCount, publishes, windows: windowTotals(state.windows, +at) };
}

function invalid(name: string, value: unknown, accepted: string): CounterError {
  return new CounterError("counter/invalid-option", `${name} is "${String(value)}"; pass ${accepted}`);
}
