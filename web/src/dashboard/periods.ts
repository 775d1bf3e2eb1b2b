/**
 * The periods that a counter's history is shown for: the hours of a day and the last 30 days, by the clock of this device.
 *
 * The history has hours of UTC. Where local time is not whole hours from UTC, the local day begins with the UTC hour that
 * contains midnight (in India at 23:30).
 */

const HOUR_MS = 3_600_000;
const UTC_DAY_MS = 24 * HOUR_MS;

export const DAYS = 30;

/** The instants between which a period is divided, in milliseconds since the epoch: one more than it has hours or days. */
export type Boundaries = readonly number[];

/** The last millisecond of an hour of UTC: its local day is the one that the hour belongs to. */
function endOfUtcHour(at: number): Date {
  return new Date(hourOf(at) + HOUR_MS - 1);
}

function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

/**
 * The hours from midnight to midnight, as the clock names them. An hour that the clock skips is empty, and one that it repeats
 * has twice its length: so the hours of two days can stand beside each other.
 */
export function hoursOfDay(now: number, daysAgo = 0): Boundaries {
  const day = endOfUtcHour(now);
  const at = (hour: number) => new Date(day.getFullYear(), day.getMonth(), day.getDate() - daysAgo, hour);
  return Array.from({ length: 25 }, (_, hour) => hourOf(at(hour).getTime()));
}

/** Today, and the days before it. */
export function recentDays(now: number): Boundaries {
  const day = endOfUtcHour(now);
  const at = (n: number) => new Date(day.getFullYear(), day.getMonth(), day.getDate() - DAYS + 1 + n);
  return Array.from({ length: DAYS + 1 }, (_, n) => hourOf(at(n).getTime()));
}

/**
 * The history that all periods need: one more day, for the total with which the first one begins. From a midnight of UTC, as its
 * documents are.
 */
export function historyFrom(now: number): Date {
  const [first = now] = recentDays(now);
  return new Date(Math.floor((first - UTC_DAY_MS) / UTC_DAY_MS) * UTC_DAY_MS);
}

/** The counter document, and a document for each day of UTC. */
export const MOST_READS = DAYS + 3;

/** `"14:00"`; the end of a day is `"24:00"`. */
export function timeOf(at: number, isEnd = false): string {
  const time = new Date(at).toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  return isEnd && time === "00:00" ? "24:00" : time;
}

/** `"Nov 3"` */
export function dateOf(at: number): string {
  return endOfUtcHour(at).toLocaleDateString("en", { month: "short", day: "numeric" });
}

/** Whether an instant is midnight in a time zone; `false` for one that this browser does not know. */
export function isMidnightIn(timeZone: string, at: number): boolean {
  try {
    return new Date(at).toLocaleTimeString("en", { timeZone, hourCycle: "h23" }) === "00:00:00";
  } catch {
    return false;
  }
}
