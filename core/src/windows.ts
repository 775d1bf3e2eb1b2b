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
  const totalOf = (count: WindowCount<Seconds> | undefined) => (count && isCurrent(count, at) ? count.total : 0);
  return { day: totalOf(windows?.day), week: totalOf(windows?.week), month: totalOf(windows?.month) };
}

/** Whether a window is not over. */
export function isCurrent({ until }: WindowCount<Seconds>, at: number): boolean {
  return until.seconds * 1_000 > at;
}
