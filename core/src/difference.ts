/**
 * The difference of two sums.
 *
 * Whole numbers are added exactly. Fractions that are added in another order differ in the last digits. A reconcile that took
 * this for drift would correct the counter again and again, so a difference that rounding explains is 0.
 */

/** The largest relative rounding error of a sum of a million fractions. */
const ROUNDING = 1e6 * Number.EPSILON;

/**
 * @param magnitude  the sum of the absolute values: the numbers may cancel out, their rounding errors do not
 * @returns          `expected − found`, or 0 if they differ by rounding alone
 */
export function differenceBeyondRounding(expected: number, found: number, magnitude: number): number {
  const difference = expected - found;
  if (Number.isInteger(expected) && Number.isInteger(found)) return difference;
  return Math.abs(difference) <= ROUNDING * Math.max(Math.abs(expected), magnitude) ? 0 : difference;
}
