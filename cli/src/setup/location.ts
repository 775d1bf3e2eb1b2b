/** The locations of databases, and the regions of Cloud Functions near them. */
import { looksLikeRegion, MULTI_REGIONS, REGIONS, regionsNear } from "../../../functions/src/decisions.ts";
import { CommandError, FAILED, WRONG_USAGE } from "../commandError.ts";

/** The location in a new project. */
export const DEFAULT_LOCATION = "us-central1";

const LOCATIONS = [...Object.keys(MULTI_REGIONS), ...REGIONS];

/** Whether a region is near a database. */
export function isNear(region: string | undefined, location: string): boolean {
  return region !== undefined && regionsNear(location).includes(region);
}

/** @returns why a text is no location, with the locations that begin like it; `undefined` for a location */
export function locationProblem(text: string): string | undefined {
  if (LOCATIONS.includes(text)) return undefined;
  const near = locationsLike(text);
  const accepted = near.length > 0 ? `did you mean ${near.join(", ")}?` : `choose one of ${LOCATIONS.join(", ")}`;
  return `${JSON.stringify(text)} is no location of Firestore; ${accepted}`;
}

/**
 * @param source  `--location`, or the place in a file
 * @throws CommandError naming the locations that begin like the text, if it is none
 */
export function assertLocation(text: string, source: string): void {
  const problem = locationProblem(text);
  if (problem === undefined) return;
  // A file may name a region that is newer than the list.
  if (source !== "--location" && looksLikeRegion(text)) return;
  if (source === "--location") throw new CommandError(WRONG_USAGE, `--location ${problem}`);
  throw new CommandError(FAILED, `correct ${source}, or pass --location: ${problem}`);
}

/** The locations that share the longest beginning with a text. The names of a multi-region and of its regions count. */
function locationsLike(text: string): string[] {
  for (let length = text.length; length > 1; length--) {
    const beginning = text.slice(0, length).toLowerCase();
    const like = LOCATIONS.filter((location) =>
      [location, ...regionsNear(location)].some((name) => name.startsWith(beginning)),
    );
    if (like.length > 0) return like;
  }
  return [];
}
