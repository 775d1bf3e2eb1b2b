/**
 * Windows: what a counter has counted today, this week and this month, by the clock of one time zone. The functions add to
 * them with each publish, so they cost no writes of their own.
 */

/** A calendar day, a week that begins on Monday, or a calendar month. */
export type Window = "day" | "week" | "month";

/** What was counted in one window. The window is over if the counter has counted nothing since. */
export interface WindowCount<Timestamp> {
  /** The end of the window: the instant at which the next one begins. */
  until: Timestamp;
  /** The sum of the increments that the publishes of this window have counted. */
  total: number;
}

/** The field `windows` of a counter document. */
export type Windows<Timestamp> = Record<Window, WindowCount<Timestamp>> & {
  /** The IANA name of the time zone whose days, weeks and months these are. */
  timeZone: string;
};

/** What was counted in the day, the week and the month of an instant. */
export type WindowTotals = Readonly<Record<Window, number>>;

/** The part of both SDKs' timestamps that the end of a window needs: it is a whole second. */
export interface Seconds {
  readonly seconds: number;
}

/**
 * What the windows of an instant have counted: 0 in those that the counter has not counted in.
 *
 * @param at  milliseconds since the epoch
 */
export function windowTotals(windows: Windows<Seconds> | null | undefined, at: number): WindowTotals {
  const totalOf = (window: Window) => (isCurrent(windows?.[window], at) ? (windows?.[window].total ?? 0) : 0);
  return { day: totalOf("day"), week: totalOf("week"), month: totalOf("month") };
}

/** Whether an instant is before the end of a window, which it was counted in or is after. */
export function isCurrent(count: WindowCount<Seconds> | undefined, at: number): boolean {
  return count !== undefined && count.until.seconds * 1_000 > at;
}
