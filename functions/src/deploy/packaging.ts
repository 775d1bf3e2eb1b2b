/** How the functions are deployed. Their names depend on it. */

/**
 * The group of functions in a plain codebase, where `sweep` may be another function's name. firebase-functions deploys them
 * as `tally-shardcreated`, `tally-sweep` and so on. The names of an extension's and a kit's functions begin with the instance.
 */
export const GROUP = "tally";

export function packaging(): "plain codebase" | "extension" | "kit" {
  const { EXT_INSTANCE_ID, FIREBASE_KIT_INSTANCE_ID } = process.env;
  return EXT_INSTANCE_ID ? "extension" : FIREBASE_KIT_INSTANCE_ID ? "kit" : "plain codebase";
}

/**
 * The full name of a function of a plain codebase. `prefix` in firebase.json comes before the names of all its functions, and no
 * variable tells it. So it is what comes before the own name (`FUNCTION_TARGET`, such as `tally.shardcreated`) in the name of the own
 * service (https://cloud.google.com/run/docs/container-contract#env-vars).
 */
export function nameInCodebase(name: string): string {
  const { K_SERVICE = "", FUNCTION_TARGET = "" } = process.env;
  const own = FUNCTION_TARGET.replaceAll(".", "-");
  const prefix = own && K_SERVICE.endsWith(`-${own}`) ? K_SERVICE.slice(0, -own.length) : "";
  return `${prefix}${GROUP}-${name}`;
}
