/** Three regions, and how far they are apart. */

export const REGIONS = ["us", "eu", "asia"] as const;
export type Region = (typeof REGIONS)[number];

export const databaseOf = (region: Region) => (region === "us" ? "(default)" : `tally-${region}`);

/** Milliseconds of a round trip. */
const ROUND_TRIPS: Readonly<Record<string, number>> = { "eu us": 80, "asia us": 150, "asia eu": 220 };

export function roundTrip(from: Region, to: Region): number {
  return ROUND_TRIPS[[from, to].sort().join(" ")] as number;
}

/** Such as `us=(default),eu=tally-eu`. */
const LIST = REGIONS.map((one) => `${one}=${databaseOf(one)}`).join();

/** A codebase of functions for each region, and its parameters. */
export const CODEBASES = Object.fromEntries(
  REGIONS.map((region) => [region, { DATABASE_ID: databaseOf(region), REGIONS: LIST }]),
);
