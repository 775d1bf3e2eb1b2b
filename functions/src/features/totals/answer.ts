/**
 * What an answer says, and for how long a cache may repeat it.
 *
 * A cache may keep totals until the first of them can change: when its counter's next publish is due, which is at most the
 * longest interval away. A quiet counter, whose publish is overdue, can change with its next write, and is kept for a second, the
 * least that a cache can.
 *
 * There is no `stale-while-revalidate`: it would let a reader see what is a second older, for the sake of one
 * request a second that waits.
 */
import { createHash } from "node:crypto";
import type { Millis } from "../../counter/time.ts";
import type { Reading } from "./sharedReads.ts";

/**
 * @param now          by the clock of `nextDue`
 * @param maxInterval  between two totals of a counter that is written
 * @returns            whole seconds, from 1
 */
export function maxAgeSeconds(readings: readonly (Reading | undefined)[], now: Millis, maxInterval: Millis): number {
  const untilDue = Math.min(...readings.map((reading) => (reading ? reading.nextDue - now : 0)), maxInterval);
  return Math.max(Math.floor(untilDue / 1_000), 1);
}

/**
 * `{"totals":{"a":{"total":12,"asOf":1767225600000},"b":null}}`, in the order of the ids. An object would move ids such as `"7"` to
 * the front.
 */
export function totalsJson(ids: readonly string[], readings: readonly (Reading | undefined)[]): string {
  const members = ids.map((id, n) => {
    const reading = readings[n];
    const { total, asOf } = reading ?? {};
    return `${JSON.stringify(id)}:${JSON.stringify(reading ? { total, asOf } : null)}`;
  });
  return `{"totals":{${members.join()}}}`;
}

/** A strong validator of a body, with its quotes. */
export function etagOf(body: string): string {
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
}

/** Whether `If-None-Match` names an entity tag. Caches that compress an answer make its tag a weak one. */
export function namesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags?.some((tag) => tag === etag || tag === "*") ?? false;
}
