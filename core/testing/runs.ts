/** How often a property is tried: the longer a suite may take, the more often. `scripts/test.ts` names the suite in `TALLY_SUITE`. */

const { TALLY_SUITE } = process.env;
/** `npm run test:nightly`. */
export const isNightly = TALLY_SUITE === "nightly";
/** `npm run test:deep`, or nightly. */
const isDeep = isNightly || TALLY_SUITE === "deep";

/** A tenth of the runs in `npm test`. */
export function runs(deep: number): { readonly numRuns: number } {
  return { numRuns: isDeep ? deep : Math.ceil(deep / 10) };
}

/** A fifth of the seeds in `npm run test:deep`. */
export function seeds(nightly: number): number {
  return isNightly ? nightly : Math.ceil(nightly / 5);
}
