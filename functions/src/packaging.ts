/** How the functions are deployed. The names of the functions depend on it. */

/**
 * The name of the group of functions in a plain codebase, where `created` or `sweep` may be another function's name.
 * firebase-functions deploys the functions of a group as `tally-wake`, `tally-sweep` and so on. The names of an extension's
 * and a kit's functions begin with the instance, so they need no group.
 */
export const GROUP = "tally";

export type Packaging = "plain codebase" | "extension" | "kit";

/** Read from the environment variables that the Extensions service and the Firebase CLI set. */
export function packaging(): Packaging {
  const { EXT_INSTANCE_ID, FIREBASE_KIT_INSTANCE_ID } = process.env;
  return EXT_INSTANCE_ID ? "extension" : FIREBASE_KIT_INSTANCE_ID ? "kit" : "plain codebase";
}
