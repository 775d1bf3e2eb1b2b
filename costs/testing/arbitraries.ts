/** Any traffic, for property tests of what it costs. */
import fc from "fast-check";
import type { Traffic } from "../src/index.ts";

const upTo = (max: number) => fc.double({ min: 0, max, noNaN: true, noDefaultInfinity: true });

export const anyTraffic: fc.Arbitrary<Traffic> = fc.record({
  perSecond: fc.oneof(upTo(1), upTo(10_000)),
  peakPerSecond: fc.oneof(upTo(10), upTo(100_000)),
  peakHours: fc.double({ min: 0.1, max: 24, noNaN: true }),
  counters: fc.integer({ min: 1, max: 1_000_000 }),
  once: upTo(1),
  watchers: upTo(1_000),
  readsPerDay: upTo(1e9),
  perClient: upTo(100),
  total: fc.option(upTo(1e12), { nil: undefined }),
});
