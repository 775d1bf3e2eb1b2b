/** The sum of listed shards, for the backend's total and a client's exact read. */

/** Whether a `count` can be added: a finite number, or absent in a shard without increments. */
export function isCount(count: unknown): count is number | undefined {
  return count === undefined || (typeof count === "number" && Number.isFinite(count));
}

/** Sums the counts of all shards. A malformed count, such as a string, is left out. */
export function sumOfCounts(counts: Iterable<unknown>): number {
  let total = 0;
  for (const count of counts) if (isCount(count)) total += count ?? 0;
  return total;
}
