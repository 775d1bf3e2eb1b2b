/** The sum of listed shards, for the backend's total and a client's exact read. */
import { CounterError } from "./errors.ts";

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

/**
 * As {@link sumOfCounts}, for an exact read.
 *
 * @throws CounterError `counter/overflow` if a count or the sum is infinite or NaN: the sum of the others would be wrong
 */
export function exactSum(id: string, counts: Iterable<unknown>): number {
  let total = 0;
  for (const count of counts) if (typeof count === "number") total += count;
  if (Number.isFinite(total)) return total;
  throw overflow(id);
}

/** The sum that an aggregation query answers. Of no number it is `null` on Firestore's Enterprise edition, and 0 on Standard. */
export function sumOrZero(answer: number | null): number {
  return answer ?? 0;
}

export function overflow(id: string): CounterError {
  return new CounterError(
    "counter/overflow",
    `the sum of "${id}" is infinite; set the count of its shards to numbers, then call resetCounter`,
  );
}
