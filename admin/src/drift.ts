/**
 * What a counter lacks.
 *
 * Whole numbers are added exactly, so any difference is a drift. Fractions are not: the same numbers, added up in another
 * order, differ in the last digits, and a reconcile that took this for drift would correct the counter for ever, a
 * billionth up and a billionth down. So a difference that rounding explains is none.
 */

/** A million rounding errors of a double: what adding up a million fractions in another order may come to, at worst. */
const ROUNDING = 1e6 * Number.EPSILON;

/**
 * @param magnitude  how large the numbers are that `found` is the sum of: they may cancel out, their rounding does not
 * @returns          `expected − found`, or 0 if they are the same but for rounding
 */
export function driftOf(expected: number, found: number, magnitude: number): number {
  const drift = expected - found;
  if (Number.isInteger(expected) && Number.isInteger(found)) return drift;
  return Math.abs(drift) <= ROUNDING * Math.max(Math.abs(expected), magnitude) ? 0 : drift;
}
