/** Random numbers from Poisson's distribution (independent events of a tick) and from Zipf's (which counter is incremented). */
import type { Random } from "../../core/src/index.ts";

/** From Poisson's distribution; from the normal one, which comes close to it, if many events are expected. */
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

/** Numbers from `0` to `count - 1`, each `n` with a probability proportional to `1 / (n + 1)`. */
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
