/** The error of the estimate, over 1,000 seeded runs for each number of visitors. Up to 1,536 it is exact: `core/src/sketch.test.ts`. */
import { describe, expect, test } from "vitest";
import { Sketch } from "../../core/src/index.ts";
import { type Random, randomFor } from "../../core/testing/random.ts";

const RUNS = 1_000;
const REGISTERS = 16_384;

/** The greatest rank of `visitors` random ones: by the inverse of its distribution, (1 − 2^−k)^visitors. */
function greatestRank(visitors: number, random: Random): number {
  if (visitors === 0) return 0;
  return Math.ceil(-Math.log2(-Math.expm1(Math.log(1 - random.next()) / visitors)));
}

/** A random number with a mean, near enough to Poisson's distribution for means above 10. */
function around(mean: number, random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  return Math.max(Math.round(mean + Math.sqrt(mean) * normal), 0);
}

/** Some visitors: the greatest rank in each register, and how many they are. */
interface Visitors {
  readonly ranks: Uint8Array;
  readonly count: number;
}

function manyVisitors(expected: number, random: Random): Visitors {
  const ranks = new Uint8Array(REGISTERS);
  let count = 0;
  for (let register = 0; register < REGISTERS; register++) {
    const here = around(expected / REGISTERS, random);
    count += here;
    ranks[register] = greatestRank(here, random);
  }
  return { ranks, count };
}

/** A sketch of them: one visitor for each register, with its rank. */
function sketchOf({ ranks }: Visitors): Sketch {
  const bytes = new Uint8Array((REGISTERS * 6) / 8);
  for (let register = 0; register < REGISTERS; register++) {
    const rank = ranks[register] as number;
    for (let bit = 0; bit < 6; bit++) {
      const at = 6 * register + bit;
      if ((rank >> (5 - bit)) & 1) bytes[at >> 3] = (bytes[at >> 3] as number) | (128 >> (at & 7));
    }
  }
  return Sketch.parse({ format: "dense", bytes });
}

/** The mean and the standard deviation of relative errors, in percent. */
function statisticsOf(errors: readonly number[]) {
  const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
  const variance = errors.reduce((sum, error) => sum + (error - mean) ** 2, 0) / errors.length;
  return { bias: 100 * mean, deviation: 100 * Math.sqrt(variance) };
}

function expectAccurate(label: string, errors: readonly number[]): void {
  const { bias, deviation } = statisticsOf(errors);
  console.log(`${label}: bias ${bias.toFixed(3)} %, standard error ${deviation.toFixed(3)} %, ${errors.length} runs`);
  expect(Math.abs(bias)).toBeLessThan(0.1);
  expect(deviation).toBeLessThan(0.85);
}

const errorOf = (sketch: Sketch, truth: number) => sketch.estimate() / truth - 1;
const runs = (name: string, run: (random: Random) => number) =>
  Array.from({ length: RUNS }, (_, seed) => run(randomFor(seed, name)));

describe("the estimate", { timeout: 120_000 }, () => {
  test("of 10,000 visitors is unbiased", () => {
    const errors = runs("ten thousand", (random) => {
      const ranks = new Uint8Array(REGISTERS);
      for (let i = 0; i < 10_000; i++) {
        const register = random.integer(0, REGISTERS - 1);
        ranks[register] = Math.max(ranks[register] as number, greatestRank(1, random));
      }
      return errorOf(sketchOf({ ranks, count: 10_000 }), 10_000);
    });
    expectAccurate("10,000 visitors", errors);
  });

  test.each([1e6, 1e8])("of some %i visitors is unbiased", (expected) => {
    const errors = runs(`many ${expected}`, (random) => {
      const visitors = manyVisitors(expected, random);
      return errorOf(sketchOf(visitors), visitors.count);
    });
    expectAccurate(`${expected} visitors`, errors);
  });
});
