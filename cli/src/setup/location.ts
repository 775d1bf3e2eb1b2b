/** Where the database is, and which region of Cloud Functions is beside it. */
import { MULTI_REGIONS, REGIONS, regionsNear } from "../../../functions/src/decisions.ts";
import { CommandError, WRONG_USAGE } from "../commandError.ts";

/** Of a new project. */
export const DEFAULT_LOCATION = "us-central1";

const LOCATIONS = [...Object.keys(MULTI_REGIONS), ...REGIONS];

/** The regions of functions that are beside a database, the usual one first. */
export function regionsBeside(location: string): readonly [string, ...string[]] {
  return regionsNear(location);
}

/** Whether functions in a region are beside a database. */
export function isBeside(region: string | undefined, location: string): boolean {
  return region !== undefined && regionsBeside(location).includes(region);
}

/** @returns why a text is no location of a database, and which ones begin like it; `undefined` if it is one */
export function whyNoLocation(text: string): string | undefined {
  if (LOCATIONS.includes(text)) return undefined;
  const near = locationsLike(text);
  const accepted = near.length > 0 ? `did you mean ${near.join(", ")}?` : `choose one of ${LOCATIONS.join(", ")}`;
  return `${JSON.stringify(text)} is no location of Firestore; ${accepted}`;
}

/** @throws CommandError naming the locations that begin like the text, if it is none */
export function parseLocation(text: string): string {
  const why = whyNoLocation(text);
  if (why !== undefined) throw new CommandError(WRONG_USAGE, `--location ${why}`);
  return text;
}

/** Those that share the longest beginning with a text, by their own name or by that of a region in them. */
function locationsLike(text: string): string[] {
  for (let length = text.length; length > 1; length--) {
    const beginning = text.slice(0, length).toLowerCase();
    const like = LOCATIONS.filter((location) =>
      [location, ...regionsBeside(location)].some((name) => name.startsWith(beginning)),
    );
    if (like.length > 0) return like;
  }
  return [];
}
