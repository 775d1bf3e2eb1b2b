/** The most frequent items of long streams, over 8 seeds. */
import { describe, expect, test } from "vitest";
import { type Random, randomFor } from "../../core/testing/random.ts";
import { accuracyOf, countStream } from "../../testkit/itemStream.ts";
import { zipf } from "../../testkit/zipf.ts";

const SEEDS = Array.from({ length: 8 }, (_, seed) => seed);
const EVENTS = 1_000_000;
const ITEMS = 100_000;

function* stream(random: Random): Generator<string> {
  const next = zipf(ITEMS, random);
  for (let n = 0; n < EVENTS; n++) yield `https://example.com/articles/${next()}`;
}

describe("of a million events with a hundred thousand items (Zipf), through four instances", {
  timeout: 120_000,
}, () => {
  test.each(SEEDS)("98 of the top 100 are found, and all counts are within their bounds: seed %i", (seed) => {
    const random = randomFor(seed, "top items");
    const counted = countStream(stream(random), random);
    const { recalled, exact, outOfBounds, error, total } = accuracyOf(counted, 100);
    const { bytes, largestWaiting } = counted;
    console.log(
      `seed ${seed}: ${recalled} of 100, ${exact} exact, error ${error}, ${bytes.length} bytes, ${largestWaiting} waiting`,
    );
    expect(recalled).toBeGreaterThanOrEqual(98);
    expect(outOfBounds).toBe(0);
    expect(total).toBe(EVENTS);
    expect(error).toBeLessThan(EVENTS / 2_049);
  });
});
