/** The groups whose totals need a publish of the functions: the list of `needsFunctions` in the policy. */
import { COUNTING_DEFAULTS, groupsThatNeedPublishes, parseConfig } from "../../../functions/src/decisions.ts";
import type { Values } from "./dotenv.ts";
import type { Groups } from "./rules/composed.ts";

/** By the parameters, also those that were edited by hand. Wrong ones are told by `doctor` and by the functions. */
export function groupsThatNeedFunctions(values: Values): Groups["functions"] {
  try {
    return groupsThatNeedPublishes(parseConfig({ ...COUNTING_DEFAULTS, ...values }));
  } catch {
    return "all";
  }
}

/**
 * Those of the parameters, and those that are in the policy for another reason: added by hand, or for parameters that are in no file here.
 * So a group that was taken out of a parameter by hand stays, as does `true` after DIRECT=no. Its increments are dearer, and never wrong.
 *
 * @param present  those of the policy
 * @param from     the parameters before `init`
 * @param to       and after
 */
export function neededGroups(present: Groups["functions"], from: Values, to: Values): Groups["functions"] {
  const [before, after] = [groupsThatNeedFunctions(from), groupsThatNeedFunctions(to)];
  if (after === "all" || (present === "all" && before !== "all")) return "all";
  const gone = before === "all" ? [] : before.filter((group) => !after.includes(group));
  const kept = present === "all" ? [] : present.filter((group) => !gone.includes(group));
  return [...new Set([...kept, ...after])];
}
