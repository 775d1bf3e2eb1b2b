/** The groups whose totals need a publish of the functions: the list of `needsFunctions` in the policy. */
import { DEFAULT_PARAMETERS, groupsThatNeedPublishes, parseConfig } from "../../../functions/src/decisions.ts";
import type { Values } from "./dotenv.ts";
import type { Groups } from "./rules/composed.ts";

/** By the parameters, also those that were edited by hand. Wrong ones are told by `doctor` and by the functions. */
export function groupsThatNeedFunctions(values: Values): Groups["functions"] {
  try {
    return groupsThatNeedPublishes(parseConfig({ ...DEFAULT_PARAMETERS, ...values }));
  } catch {
    return "all";
  }
}
