import type { Random } from "../../core/src/index.ts";

/** A random number from Poisson's distribution; from the normal one, which comes close to it, if many events are expected. */
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
