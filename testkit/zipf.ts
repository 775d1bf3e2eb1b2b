/** Items as people search for them: the n-th most frequent comes a n-th as often as the first (Zipf's law). */
import type { Random } from "../core/testing/random.ts";

/** @returns draws a rank, from 1 to `ranks` */
export function zipf(ranks: number, random: Random): () => number {
  const cumulative = new Float64Array(ranks);
  let sum = 0;
  for (let rank = 1; rank <= ranks; rank++) cumulative[rank - 1] = sum += 1 / rank;
  return () => {
    const at = random.next() * sum;
    let [low, high] = [0, ranks - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulative[middle] as number) <= at) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
