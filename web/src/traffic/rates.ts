/** The rates to choose from: evenly spread magnitudes, rounded to what people say. 1, 2, 5, 40, 150. */
const MOST = 500;
const STEPS = 100;

function rounded(perSecond: number): number {
  const unit = perSecond < 10 ? 1 : perSecond < 100 ? 5 : 10;
  return Math.round(perSecond / unit) * unit;
}

export const RATES: readonly number[] = [
  ...new Set(Array.from({ length: STEPS + 1 }, (_, step) => rounded(MOST ** (step / STEPS)))),
];
