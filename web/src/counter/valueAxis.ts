/**
 * The value axis of a chart: where it begins and ends, its possible steps, and how its values are written.
 *
 * Columns and rates begin at zero, because their height is the amount. A total that has grown by less than half begins near its
 * lowest value: from zero, a large total would be a level line.
 */

/** 1, 2 and 5 of each power of ten. As text, because 5 · 10⁻³ is not the number 0.005. */
const STEPS = Array.from({ length: 22 }, (_, n) => [1, 2, 5].map((digit) => Number(`${digit}e${n - 6}`))).flat();
const WHOLE_STEPS = STEPS.filter((step) => step >= 1);

export interface ValueAxis {
  /** Whether it must begin at zero. */
  readonly fromZero: boolean;
  /** The least value of its upper end, so that a small value stays low. */
  readonly minUpperEnd: number;
}

/** Where the axis begins and ends, for the lowest and the highest value. */
export function valueRange(lowest: number, highest: number, { fromZero, minUpperEnd }: ValueAxis): [number, number] {
  const isHigh = !fromZero && lowest > highest / 2 && lowest < highest;
  const low = isHigh ? lowest : Math.min(lowest, 0);
  const high = Math.max(highest, minUpperEnd, 0);
  const space = (high - low) * 0.1 || 1;
  return [low === 0 ? 0 : low - space, high === 0 && low < 0 ? 0 : high + space];
}

/** The distances that lines of the grid may have: whole ones for whole values. */
export function stepsFor(values: Iterable<number | null | undefined>): number[] {
  for (const value of values) if (!Number.isInteger(value ?? 0)) return STEPS;
  return WHOLE_STEPS;
}

/** The values beside the lines, as short as two neighbours allow: 1.2M; 7.0002M beside 7.0004M; 7,000,020 beside 7,000,040. */
export function axisLabels(values: readonly number[]): string[] {
  const [first = 0, second = first + 1] = values;
  const step = second - first;
  const largest = Math.max(...values.map(Math.abs), 1);
  const unit = 1_000 ** Math.min(Math.floor(Math.log10(largest) / 3), 4);
  const digits = digitsOf(step / unit);
  const isCompact = largest >= 10_000 && digits <= 4;
  const format = new Intl.NumberFormat("en", {
    notation: isCompact ? "compact" : "standard",
    maximumFractionDigits: isCompact ? digits : digitsOf(step),
  });
  return values.map((value) => format.format(value));
}

/** The decimal places of a step. */
function digitsOf(step: number): number {
  return Math.max(Math.ceil(-Math.log10(step) - 1e-9), 0);
}
