/** The sum of shards, the same for the backend's total and a client's exact read. */

/** Whether a `count` can be added: a finite number, or absent (a shard nothing was added to yet). */
export function isCount(count: unknown): count is number | undefined {
  return count === undefined || (typeof count === "number" && Number.isFinite(count));
}

/** Sums the counts of all shards. One that is malformed (a string, put there by hand) is left out. */
export function sumOfCounts(counts: Iterable<unknown>): number {
  let total = 0;
  for (const count of counts) if (isCount(count)) total += count ?? 0;
  return total;
}
