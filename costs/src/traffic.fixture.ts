/** Traffic of any kind, for properties of what it costs. */
import fc from "fast-check";
import type { Traffic } from "./costs.ts";

const positive = (max: number) => fc.double({ min: 0, max, noNaN: true, noDefaultInfinity: true });
export const anyTraffic: fc.Arbitrary<Traffic> = fc.record({
  perSecond: fc.oneof(positive(1), positive(10_000)),
  peakPerSecond: fc.oneof(positive(10), positive(100_000)),
  peakHours: fc.double({ min: 0.1, max: 24, noNaN: true }),
  counters: fc.integer({ min: 1, max: 1_000_000 }),
  keyed: positive(1),
  watchers: positive(1_000),
  readsPerDay: positive(1e9),
  perClient: positive(100),
  total: fc.option(positive(1e12), { nil: undefined }),
});
