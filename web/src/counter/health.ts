/**
 * Whether the published total of a counter is late. Pure.
 *
 * A counter that is one document is never late: each increment changes its total in the same write. The functions publish a counter with
 * shards within seconds of a write, and a busy one every ten seconds at the latest. So it is late if a shard has had a write for longer
 * than that, or if a scheduled measurement did not run. Shard 0 stands for the others: it takes a share of all writes.
 */
import { formatAge } from "../page/format.ts";
import type { Published } from "./published.ts";

/** Longer than any publish takes by default (`MAX_INTERVAL_SECONDS` is 10), its task included. */
export const LATE_MS = 15_000;

/** The same if nothing was written lately, and the functions may start cold and fold shards first. */
const QUIET_LATE_MS = 60_000;

export interface Lateness {
  /** `unpublished`: a write of a shard is not in the total. `overdue`: a measurement did not run. */
  readonly kind: "unpublished" | "overdue";
  /** When that write was made, or that measurement was due. */
  readonly since: number;
  /** When the total was published. */
  readonly publishedAt: number;
  /** When this was found. */
  readonly at: number;
}

/** What the total depends on; times are milliseconds since the epoch, by the server's clock. */
export type Timing = Pick<Published, "publishedAt" | "nextPollAt" | "isQuiet" | "isCollection">;

export const NEVER_PUBLISHED: Timing = {
  publishedAt: undefined,
  nextPollAt: undefined,
  isQuiet: false,
  isCollection: false,
};

/**
 * @param writes  instants of writes to shard 0, as far as they are known
 * @returns `undefined` if the total is not late
 */
export function latenessOf(
  { publishedAt = 0, nextPollAt = 0, isQuiet, isCollection }: Timing,
  writes: readonly number[],
  now: number,
): Lateness | undefined {
  const tolerance = isQuiet ? QUIET_LATE_MS : LATE_MS;
  // The shards of a counter of documents are in no total.
  const first = isCollection ? Infinity : Math.min(...writes.filter((at) => at > publishedAt));
  // A write waits for a measurement that is scheduled, however far off that is by the configuration.
  const found = { publishedAt, at: now };
  if (now > Math.max(first, nextPollAt) + tolerance) return { kind: "unpublished", since: first, ...found };
  if (nextPollAt > 0 && now > nextPollAt + tolerance) return { kind: "overdue", since: nextPollAt, ...found };
  return undefined;
}

/** `Not published for 24 s although writes arrive` */
export function describeLateness({ kind, since, publishedAt, at }: Lateness): string {
  return kind === "unpublished"
    ? `Not published for ${formatAge(at - since)} although writes arrive`
    : `The total is ${formatAge(at - publishedAt)} old, and a measurement is overdue by ${formatAge(at - since)}`;
}
