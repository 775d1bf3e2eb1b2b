/**
 * Windows: what a counter has counted today, this week and this month, by the clock of one time zone. The functions add to
 * them with each publish, so they cost no writes of their own.
 */

/** A calendar day, a week that begins on Monday, or a calendar month. */
export type CounterWindowName = "day" | "week" | "month";

/** All of them, from the shortest on. */
export const WINDOW_NAMES = ["day", "week", "month"] as const satisfies readonly CounterWindowName[];

/** The titles of the current windows. */
export const WINDOW_TITLES: Readonly<Record<CounterWindowName, string>> = {
  day: "Today",
  week: "This week",
  month: "This month",
};

/** A value for each window. */
export function eachWindow<Value>(make: (window: CounterWindowName) => Value): Record<CounterWindowName, Value> {
  return Object.fromEntries(WINDOW_NAMES.map((window) => [window, make(window)])) as Record<CounterWindowName, Value>;
}

/** What was counted in one window. A counter that counts nothing keeps its last one, so compare `until` with the time. */
export interface CounterWindow<Timestamp> {
  /** The end of the window: the instant at which the next one begins. */
  until: Timestamp;
  /** The sum of the increments that the publishes of this window have counted. */
  total: number;
}

/** The field `windows` of a counter document. */
export type CounterWindows<Timestamp> = Record<CounterWindowName, CounterWindow<Timestamp>> & {
  /** The IANA name of the time zone whose days, weeks and months these are. */
  timeZone: string;
};

/** What was counted in the day, the week and the month of an instant. */
export type CounterWindowTotals = Readonly<Record<CounterWindowName, number>>;

/** A timestamp of either SDK, to the second. Windows end on whole seconds. */
export interface Seconds {
  readonly seconds: number;
}

/**
 * The sums of the windows that an instant is in; 0 for one without increments.
 *
 * @param at  milliseconds since the epoch
 */
export function windowTotals(windows: CounterWindows<Seconds> | null | undefined, at: number): CounterWindowTotals {
  return eachWindow((window) => (isCurrent(windows?.[window], at) ? (windows?.[window].total ?? 0) : 0));
}

/** Whether there is a window that is not over. A server may have damaged it. */
export function isCurrent(count: CounterWindow<Seconds> | undefined, at: number): boolean {
  return Number(count?.until?.seconds) * 1_000 > at;
}
