/** How the functions are deployed. Their names depend on it. */

/**
 * The group of functions in a plain codebase, where `sweep` may be another function's name. firebase-functions deploys them
 * as `tally-wake`, `tally-sweep` and so on. The names of an extension's and a kit's functions begin with the instance.
 */
export const GROUP = "tally";

export function packaging(): "plain codebase" | "extension" | "kit" {
  const { EXT_INSTANCE_ID, FIREBASE_KIT_INSTANCE_ID } = process.env;
  return EXT_INSTANCE_ID ? "extension" : FIREBASE_KIT_INSTANCE_ID ? "kit" : "plain codebase";
}
