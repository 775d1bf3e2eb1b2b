/** All parameters of a deployment, and what they set. Pure: the functions use it, and `doctor`. */
import { FEATURE_PLANS } from "../features/plans.ts";
import type { FeaturePlan, Settings } from "../shared/feature.ts";
import type { Groups } from "../shared/groups.ts";
import { EMAIL, type Parameters, type ParameterValues, Values } from "../shared/parameters.ts";
import { counterPlan } from "./counterPlan.ts";

export const ALL_PLANS: readonly FeaturePlan[] = [counterPlan, ...FEATURE_PLANS];

/** The parameters that decide what is counted, and how, in the order in which the CLI asks for them. */
const COUNTING_PARAMETERS: Parameters = Object.fromEntries(
  ALL_PLANS.flatMap(({ parameters = {} }) => Object.entries(parameters)),
);

/** The account and the instances of the functions, which the Extensions service sets itself. */
const INSTANCES: Parameters = {
  SERVICE_ACCOUNT: {
    default: "",
    isNotInExtension: true,
    label: "Account",
    description:
      "The account the functions run as: its email. Empty: the Firebase CLI creates one, with the roles that the functions need.",
    accepted: "the whole email of a service account",
    pattern: `^(${EMAIL})?$`,
    invalid: "Enter the whole email of a service account, or nothing.",
  },
  MIN_INSTANCES: {
    default: "0",
    range: [0, 1_000],
    isNotInExtension: true,
    label: "Fewest instances",
    description:
      "How many instances of each of the four functions between an increment and its total are kept running, " +
      "against cold starts. They cost also while nothing is counted.",
    accepted: "instances of each of four functions that always run",
  },
  // In some regions a new project has no quota for more: https://github.com/firebase/firebase-tools/pull/5867
  MAX_INSTANCES: {
    default: "10",
    range: [0, 1_000],
    isNotInExtension: true,
    label: "Most instances",
    description: "How many instances each function may have at a time. 0: what the platform allows by default.",
    accepted:
      "instances of each function; 0: [the platform's 100](https://cloud.google.com/functions/docs/configuring/max-instances)",
  },
};

export const PARAMETERS: Parameters = { ...COUNTING_PARAMETERS, ...INSTANCES };

/** The defaults, as they are entered, of the parameters that decide what is counted and how. */
export const COUNTING_DEFAULTS = defaultsOf(COUNTING_PARAMETERS);
/** The defaults of those of a codebase alone: its account and the numbers of its instances. */
export const INSTANCE_DEFAULTS = defaultsOf(INSTANCES);

function defaultsOf(parameters: Parameters): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(parameters).map(([name, parameter]) => [name, parameter.default]));
}

/**
 * @param isEmulated  whether a cool-down may be shorter
 * @param project     the project of the functions
 * @throws CounterError `counter/invalid-config`, naming the parameter, its value and what is accepted
 */
export function parseConfig(values: ParameterValues, isEmulated = false, project?: string): Settings {
  const entered = new Values(PARAMETERS, values, isEmulated, project);
  let settings = {} as Settings;
  for (const plan of ALL_PLANS) settings = { ...settings, ...plan.settings?.(entered, settings) };
  return settings;
}

/** Checks what {@link parseConfig} leaves to single functions. @throws as it does */
export function checkParameters(values: ParameterValues): void {
  for (const plan of ALL_PLANS) plan.check?.(new Values(PARAMETERS, values));
}

/** The settings of a deployment that keeps every default. */
export const DEFAULT_SETTINGS = parseConfig(COUNTING_DEFAULTS);

/**
 * The groups for the list of `needsFunctions` in the rules: each total of their counters must be published. Counters without a group are not
 * listed, unless all need it: clients may create their documents, and the functions close them.
 */
export function groupsThatNeedPublishes(settings: Settings): Groups {
  const groups = ALL_PLANS.map((plan) => plan.groupsThatNeedPublishes?.(settings) ?? []);
  return groups.includes("all") ? "all" : [...new Set(groups.flat())].filter((group) => group !== "");
}
