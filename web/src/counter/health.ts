/**
 * Whether the published total of a counter is late. Pure.
 *
 * A counter that is one document is never late: each increment changes its total in the same write. The functions publish a counter with
 * shards within seconds of a write, and a busy one every ten seconds at the latest. So it is late if a shard has had a write for longer
 * than that, or if a scheduled measurement did not run. Shard 0 stands for the others: it takes a share of all writes.
 */
import { formatAge } from "../page/format.ts";
import type { Published } from "./published.ts";

/** Longer than any publish takes by default (`MAX_INTERVAL_SECONDS` is 10). */
export const LATE_MS = 12_000;

/** A task of Cloud Tasks starts within seconds. */
const OVERDUE_MS = 5_000;

export interface Lateness {
  /** `unpublished`: a write of a shard is not in the total. `overdue`: a measurement did not run. */
  readonly kind: "unpublished" | "overdue";
  /** When that write was made, or that measurement was due. */
  readonly since: number;
  /** When the total was published. */
  readonly publishedAt: number;
}

/** What the total depends on; times are milliseconds since the epoch, by the server's clock. */
export type Timing = Pick<Published, "publishedAt" | "nextPollAt" | "isCollection">;

export const NEVER_PUBLISHED: Timing = { publishedAt: undefined, nextPollAt: undefined, isCollection: false };

/**
 * @param writes  instants of writes to shard 0, as far as they are known
 * @returns `undefined` if the total is not late
 */
export function latenessOf(
  { publishedAt = 0, nextPollAt, isCollection }: Timing,
  writes: readonly number[],
  now: number,
): Lateness | undefined {
  // The shards of a counter of documents are in no total.
  const first = isCollection ? Infinity : Math.min(...writes.filter((at) => at > publishedAt));
  if (now - first > LATE_MS) return { kind: "unpublished", since: first, publishedAt };
  if (nextPollAt !== undefined && now - nextPollAt > OVERDUE_MS)
    return { kind: "overdue", since: nextPollAt, publishedAt };
  return undefined;
}

/** `Not published for 24 s although writes arrive` */
export function describeLateness({ kind, since, publishedAt }: Lateness, now: number): string {
  return kind === "unpublished"
    ? `Not published for ${formatAge(now - since)} although writes arrive`
    : `The total is ${formatAge(now - publishedAt)} old, and a measurement is overdue by ${formatAge(now - since)}`;
}
