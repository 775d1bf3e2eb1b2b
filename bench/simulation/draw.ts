/** Random draws: how many of independent events fall into a tick, and which of many counters is popular. */
import type { Random } from "../../core/src/index.ts";

/** A number from the Poisson distribution; from the normal one that it comes close to if many are expected. */
export function poisson(expected: number, random: Random): number {
  if (expected <= 0) return 0;
  if (expected > 50) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Math.max(Math.round(expected + Math.sqrt(expected) * normal), 0);
  }
  const limit = Math.exp(-expected);
  let count = 0;
  for (let product = random(); product > limit; product *= random()) count++;
  return count;
}

/** Draws from `0` to `count - 1`, each with a probability like 1/(rank + 1): Zipf's law. */
export function zipf(count: number): (random: Random) => number {
  const cumulated = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank++) cumulated[rank] = sum += 1 / (rank + 1);
  return (random) => {
    const wanted = random() * sum;
    let low = 0;
    for (let high = count - 1; low < high; ) {
      const middle = (low + high) >> 1;
      if ((cumulated[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
