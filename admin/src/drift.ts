/**
 * The drift of a counter from its source.
 *
 * Whole numbers are added exactly, so any difference is drift. Fractions added in another order differ in the last digits. A
 * reconcile that took this for drift would correct the counter again and again, so a difference that rounding explains is 0.
 */

/** The largest relative rounding error of a sum of a million fractions. */
const ROUNDING = 1e6 * Number.EPSILON;

/**
 * @param magnitude  the sum of the absolute values: the numbers may cancel out, their rounding errors do not
 * @returns          `expected − found`, or 0 if they differ by rounding alone
 */
export function driftOf(expected: number, found: number, magnitude: number): number {
  const drift = expected - found;
  if (Number.isInteger(expected) && Number.isInteger(found)) return drift;
  return Math.abs(drift) <= ROUNDING * Math.max(Math.abs(expected), magnitude) ? 0 : drift;
}
