/**
 * Where functions of the 2nd generation run, and which of these regions are beside a database that is in several. A database in one
 * region has the name of that region.
 */

/** https://cloud.google.com/functions/docs/locations */
export const REGIONS: readonly string[] = [
  "africa-south1",
  "asia-east1",
  "asia-east2",
  "asia-northeast1",
  "asia-northeast2",
  "asia-northeast3",
  "asia-south1",
  "asia-south2",
  "asia-southeast1",
  "asia-southeast2",
  "australia-southeast1",
  "australia-southeast2",
  "europe-central2",
  "europe-north1",
  "europe-north2",
  "europe-southwest1",
  "europe-west1",
  "europe-west10",
  "europe-west12",
  "europe-west2",
  "europe-west3",
  "europe-west4",
  "europe-west6",
  "europe-west8",
  "europe-west9",
  "me-central1",
  "me-central2",
  "me-west1",
  "northamerica-northeast1",
  "northamerica-northeast2",
  "northamerica-south1",
  "southamerica-east1",
  "southamerica-west1",
  "us-central1",
  "us-east1",
  "us-east4",
  "us-east5",
  "us-south1",
  "us-west1",
  "us-west2",
  "us-west3",
  "us-west4",
];

/**
 * The locations of Firestore that are several regions, and those of them that read and write, the one for functions first
 * (https://firebase.google.com/docs/firestore/locations).
 */
export const MULTI_REGIONS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  nam5: ["us-central1"],
  nam7: ["us-central1", "us-east4"],
  eur3: ["europe-west1", "europe-west4"],
};

/** The form of a region, which may be newer than the list. */
export const REGION_PATTERN = "^[a-z]+-[a-z]+\\d+$";

/** Whether a text has the form of a region. */
export function looksLikeRegion(text: string): boolean {
  return new RegExp(REGION_PATTERN).test(text);
}

/** The regions of functions that are near a database, the usual one first. @param location  of the database */
export function regionsNear(location: string): readonly [string, ...string[]] {
  return MULTI_REGIONS[location] ?? [location];
}
