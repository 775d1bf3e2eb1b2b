/** The increments per second that the slider offers, in growing steps. */
export const RATES: readonly number[] = [...steps(1, 10, 1), ...steps(15, 100, 5), ...steps(120, 500, 20)];

function steps(from: number, to: number, by: number): number[] {
  return Array.from({ length: (to - from) / by + 1 }, (_, n) => from + n * by);
}
