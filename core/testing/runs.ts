/** How often a property is tried. */

/** A tenth of the runs, and all of them in `npm run test:deep` and `npm run test:nightly`, which set `TALLY_DEEP`. */
export function runs(deep: number): { readonly numRuns: number } {
  return { numRuns: process.env.TALLY_DEEP ? deep : Math.ceil(deep / 10) };
}
