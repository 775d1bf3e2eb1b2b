/**
 * A time series of a counter: which documents hold it, and what is in them. The same for every SDK.
 *
 * The last state of a minute or an hour is kept once the next publish finds that it is over (core's history). Until then it
 * is what the counter document says. So that document is read first: whatever is kept later is kept when the others are
 * read, and of two states of one step the later one counts.
 */
import { CounterError } from "./errors.ts";
import { type HistoryState, historyPlace, STEP_MILLIS } from "./historyDocument.ts";

/** From one point of a series to the next: the minutes, hours or days of UTC. */
export type HistoryStep = "minute" | "hour" | "day";

/** Which time series. */
export interface HistoryOptions {
  /** No point is earlier. */
  from: Date;
  /** No point is later. */
  to: Date;
  /** How far points lie apart, at least. `"minute"` only has the minutes in which the counter was busy. */
  step: HistoryStep;
}

/** How a counter stood at one instant: the last publish of a minute, an hour or a day. */
export interface HistoryPoint {
  /** The instant that `total` and `writes` are exact for: within the step, mostly near its end. */
  readonly at: Date;
  /** The sum of all increments committed at or before `at`. */
  readonly total: number;
  /** How many writes that took. Never falls, so the difference of two points is the traffic between them. */
  readonly writes: number;
  /** Writes per second then. */
  readonly rate: number;
  /** Over how many shards writers spread then. */
  readonly shardCount: number;
  /** How often the counter had been published. Never falls. */
  readonly publishes: number;
}

/** What the SDKs' timestamps have. As Dates, one SDK rounds them down and the other up, into the next minute. */
interface TimestampFields {
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** The last millisecond whose year has four digits. */
const LAST = 253_402_300_799_999;

/**
 * The ids of the first and the last document that may hold a point.
 *
 * @throws CounterError `counter/invalid-option`
 */
export function historyRange({ from, to, step }: HistoryOptions): [first: string, last: string] {
  if (!Object.hasOwn(STEP_MILLIS, step)) throw invalid("step", step, '"minute", "hour" or "day"');
  const ids = Object.entries({ from, to }).map(([name, date]) => {
    if (!(date instanceof Date) || Number.isNaN(+date)) throw invalid(name, date, "a valid Date");
    return historyPlace(step === "minute" ? step : "hour", Math.min(Math.max(+date, 0), LAST)).id;
  });
  if (from > to) throw invalid("from", from.toISOString(), `a Date that is not after to, ${to.toISOString()}`);
  return ids as [string, string];
}

/**
 * The points in a range of time, in order, at most one for each step.
 *
 * @param counter  the fields of the counter document, read before the others
 * @param history  the fields of the documents of its history
 */
export function historyPoints(
  counter: Partial<HistoryState<TimestampFields>> | undefined,
  history: readonly { readonly points?: Record<string, HistoryState<TimestampFields>> }[],
  { from, to, step }: HistoryOptions,
): HistoryPoint[] {
  const states = [counter, ...history.flatMap(({ points }) => Object.values(points ?? {}))];
  const points = states
    .flatMap((state) => (state?.asOf ? pointOf(state, state.asOf) : []))
    .filter(({ at }) => at >= from && at <= to)
    .sort((a, b) => +a.at - +b.at);
  return [...new Map(points.map((point) => [Math.floor(+point.at / STEP_MILLIS[step]), point])).values()];
}

function pointOf(state: Partial<HistoryState<TimestampFields>>, asOf: TimestampFields): HistoryPoint {
  const { total = 0, writes = 0, rate = 0, shardCount = 1, publishes = 0 } = state;
  const at = new Date(asOf.seconds * 1_000 + Math.floor(asOf.nanoseconds / 1e6));
  return { at, total, writes, rate, shardCount, publishes };
}

function invalid(name: string, value: unknown, accepted: string): CounterError {
  return new CounterError("counter/invalid-option", `${name} is "${String(value)}"; pass ${accepted}`);
}
