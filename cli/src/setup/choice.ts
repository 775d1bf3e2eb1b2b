/** The developer's choice, from options or from questions on a terminal. An option that is left out keeps the project's value. */
import { type CANCEL_SYMBOL, isCancel, select, text } from "@clack/prompts";
import { type Edition, isGroup, listItems, regionsNear } from "../../../functions/src/decisions.ts";
import { CommandError, FAILED, INTERRUPTED, WRONG_USAGE } from "../commandError.ts";
import type { CurrentSettings } from "./currentSettings.ts";
import { parametersFor, type Values } from "./dotenv.ts";
import { assertLocation, isNear, locationProblem } from "./location.ts";
import { neededGroups } from "./neededGroups.ts";
import type { RulesChoice } from "./rules/composed.ts";
import type { Packaging } from "./tallysFunctions.ts";

/** Lists of groups, by option. A group is the part of a counter's id before the colon. */
const GROUP_LISTS = {
  open: {
    question: "Which groups of counters may every client increment? views:home is of the group views",
    default: "views",
  },
  once: { question: "Which groups count once for each signed-in user?", default: "likes" },
  stock: { question: "Which groups are stock that sells out?", default: "none" },
  visitors: { question: "Which groups also count how many different visitors there are?", default: "none" },
} as const;
type GroupList = keyof typeof GROUP_LISTS;

/** Parameters that are lists of groups, by option. The rules have nothing of them. `*` is all counters. */
const GROUP_PARAMETERS = { windows: "WINDOWS", history: "HISTORY" } as const;
type GroupParameter = keyof typeof GROUP_PARAMETERS;

export interface Choice extends RulesChoice {
  /** Whether an app without functions lists its largest counters: their index is the only one that it needs. */
  readonly leaderboards: boolean;
  readonly packaging: Packaging;
  readonly database: string;
  readonly edition: Edition;
  /** What to set in the entry of the database in `firebase.json`. A setting that is left out stays. */
  readonly databaseSettings: { readonly location?: string; readonly edition?: Edition };
  /** The parameters of new functions that are not the default. */
  readonly initialParameters: Values;
  /** The parameters to change if the functions exist. */
  readonly changedParameters: Values;
}

export interface ChoiceOptions extends Readonly<Partial<Record<GroupList | GroupParameter, string>>> {
  readonly limits?: boolean;
  readonly withoutFunctions?: boolean;
  readonly leaderboards?: boolean;
  readonly as?: Packaging;
  readonly location?: string;
  readonly database?: string;
  readonly edition?: Edition;
  readonly collection?: string;
}

/** @throws CommandError if a name cannot be a group */
export function parseGroups(option: string, list: string): string[] {
  const problem = groupsProblem(list);
  if (problem !== undefined) throw new CommandError(WRONG_USAGE, `--${option} ${problem}`);
  return list.trim() === "none" ? [] : [...new Set(list.split(",").map((one) => one.trim()))];
}

function groupsProblem(list: string): string | undefined {
  const isGroups = list.split(",").every((one) => isGroup(one.trim()));
  if (isGroups) return undefined;
  return `${JSON.stringify(list)}: name groups with letters, digits, _, -, . or ~, separated by commas, or none`;
}

/**
 * @param ask  whether to ask for options that are left out; else they keep the present value
 * @throws CommandError for a value that is not accepted, or contradicts what is there
 */
export async function choose(options: ChoiceOptions, ask: boolean, present: CurrentSettings): Promise<Choice> {
  const hasFunctions = !options.withoutFunctions;
  if (!hasFunctions) refuseWhatNeedsFunctions(options, present);
  const groups = await chooseGroups(options, ask, present);
  const location = await askText(
    "Where is your Firestore database, such as nam5 or europe-west1? The Firebase console shows it. If there is none yet, it is created here",
    present.location,
    options.location,
    ask,
    locationProblem,
  );
  const isLocationGiven = options.location !== undefined || location !== present.location;
  assertLocation(location, isLocationGiven ? "--location" : present.locationSource);
  const packaging = await choosePackaging(options.as, ask && hasFunctions, present.packaging);
  const { database, hasFunctionsEntry, values } = present;
  const { edition = present.edition, collection = present.collection } = options;
  const region = isNear(values.LOCATION, location) ? (values.LOCATION as string) : regionsNear(location)[0];
  const visitors = visitorsParameter(groups, values.VISITORS);
  const groupParameters = groupParametersOf(options, values);
  return {
    ...groups,
    functions: neededGroups(present.rules?.functions ?? [], values, { ...values, ...groupParameters }),
    hasFunctions,
    limits: options.limits ?? present.rules?.limits ?? false,
    leaderboards: options.leaderboards ?? false,
    packaging,
    database,
    edition,
    collection,
    databaseSettings: {
      // A location that was neither given nor answered stays unwritten: the database may be elsewhere.
      ...((isLocationGiven || (ask && !hasFunctionsEntry)) && { location }),
      ...(options.edition !== undefined && { edition }),
    },
    initialParameters: {
      ...parametersFor({ region, database, edition, collection, visitors: groups.visitors }),
      ...groupParameters,
    },
    changedParameters: {
      ...(isLocationGiven && { LOCATION: region }),
      ...(options.edition !== undefined && { EDITION: edition }),
      ...(options.collection !== undefined && { COLLECTION: collection }),
      ...(options.collection !== undefined && eventsParameter(collection, values)),
      ...(groups.areVisitorsGiven && { VISITORS: visitors }),
      ...groupParameters,
    },
  };
}

const NEED_FUNCTIONS = ["stock", "visitors", "windows", "history"] as const;

/** @throws CommandError naming what needs functions, or if the project has them */
function refuseWhatNeedsFunctions(options: ChoiceOptions, { rules, packaging }: CurrentSettings): void {
  const inRules = (name: string) => (name === "stock" || name === "visitors") && rules?.[name].join(",");
  const needing = NEED_FUNCTIONS.map((name) => [name, options[name] ?? (inRules(name) || "none")] as const);
  const [name, groups] = needing.find(([, list]) => list.trim() !== "none") ?? [];
  if (name !== undefined)
    throw new CommandError(
      WRONG_USAGE,
      `--${name} ${groups} needs the functions, which compute it: leave out --without-functions, or --${name}`,
    );
  if (options.as !== undefined)
    throw new CommandError(
      WRONG_USAGE,
      `--as ${options.as} is about the functions: leave it or --without-functions out`,
    );
  if (packaging !== undefined || rules?.hasFunctions)
    throw new CommandError(
      FAILED,
      "this project has Tally's functions, and counters in use may need them to go on: leave out --without-functions. If the functions " +
        "were never deployed, run `npx firestore-tally remove` first. Then run this again",
    );
}

/** An option adds its groups to the parameter; `none` empties it. */
function groupParametersOf(options: ChoiceOptions, present: Values): Values {
  const given = Object.entries(GROUP_PARAMETERS).flatMap(([option, name]): [string, string][] => {
    const list = options[option as GroupParameter];
    if (list === undefined) return [];
    const added = list.trim() === "*" ? ["*"] : parseGroups(option, list);
    const all = added.length === 0 ? added : [...new Set([...listItems(present[name] ?? ""), ...added])];
    return [[name, all.includes("*") ? "*" : all.join(",")]];
  });
  return Object.fromEntries(given);
}

/** If EVENTS_COLLECTION names the counters' collection, it follows that collection. */
function eventsParameter(collection: string, { COLLECTION, EVENTS_COLLECTION }: Values): Values {
  return COLLECTION !== undefined && EVENTS_COLLECTION === COLLECTION ? { EVENTS_COLLECTION: collection } : {};
}

/** `ingest` counts visitors of more events than `yes`, so only `none` ends it. */
function visitorsParameter({ visitors }: Pick<RulesChoice, "visitors">, present: string | undefined): string {
  if (visitors.length === 0) return "no";
  return present === "ingest" ? "ingest" : "yes";
}

async function chooseGroups(options: ChoiceOptions, ask: boolean, { rules }: CurrentSettings) {
  const lists: Partial<Record<GroupList, readonly string[]>> = {};
  let areVisitorsGiven = false;
  for (const [name, list] of Object.entries(GROUP_LISTS) as [GroupList, (typeof GROUP_LISTS)[GroupList]][]) {
    const shown = rules ? rules[name].join(",") || "none" : list.default;
    const isAsked = ask && !(options.withoutFunctions && (name === "stock" || name === "visitors"));
    const reply = await askText(list.question, shown, options[name], isAsked, groupsProblem);
    const groups = parseGroups(name, reply);
    if (name === "visitors") areVisitorsGiven = options.visitors !== undefined || reply !== shown;
    // An option adds its groups to the list; `none` empties it. A reply to the question replaces the list.
    const isAdded = options[name] !== undefined && groups.length > 0;
    lists[name] = isAdded ? [...new Set([...(rules?.[name] ?? []), ...groups])] : groups;
  }
  const { open = [], once = [], stock = [], visitors = [] } = lists;
  const twice =
    once.find((group) => stock.includes(group) || open.includes(group)) ?? open.find((one) => stock.includes(one));
  if (twice !== undefined)
    throw new CommandError(
      WRONG_USAGE,
      `${twice} is in two of --open, --once and --stock; a group counts in one way${rules ? removalOf(twice, rules) : ""}`,
    );
  return { open, once, stock, visitors, areVisitorsGiven };
}

/** How to remove a group from its list in the rules. Options only add groups, so the list is emptied first. */
function removalOf(group: string, rules: RulesChoice): string {
  const list = (["open", "once", "stock"] as const).find((name) => rules[name].includes(group));
  if (list === undefined) return "";
  const others = rules[list].filter((one) => one !== group);
  const again = others.length === 0 ? "" : `, then add the others again: --${list} ${others.join(",")}`;
  return `. First remove it from its present list: --${list} none${again}`;
}

/** @throws CommandError if the functions are already there in the other packaging: two deployments would both count */
async function choosePackaging(
  given: Packaging | undefined,
  ask: boolean,
  present: Packaging | undefined,
): Promise<Packaging> {
  if (present !== undefined && given !== undefined && given !== present)
    throw new CommandError(
      FAILED,
      `--as ${given}: firebase.json has Tally's functions as a ${present}. To change that, ` +
        (present === "codebase"
          ? "run `npx firestore-tally remove` first. Then run `npx firestore-tally init --as kit`"
          : "run `npx firebase-tools functions:kits:uninstall` first. Then run init again"),
    );
  if (given !== undefined || present !== undefined || !ask) return given ?? present ?? "codebase";
  return unlessCancelled(
    await select({
      message: "How shall the functions be deployed?",
      options: [
        {
          value: "codebase" as const,
          label: "a folder of this project",
          hint: "tally/, with the next firebase deploy",
        },
        { value: "kit" as const, label: "a function kit", hint: "firebase functions:kits:install" },
      ],
      output: process.stderr,
    }),
  );
}

/** @param problem  why a reply is not accepted; the question is asked again */
async function askText(
  question: string,
  shown: string,
  given: string | undefined,
  ask: boolean,
  problem: (reply: string) => string | undefined,
): Promise<string> {
  if (given !== undefined || !ask) return given ?? shown;
  const validate = (value: string | undefined) => problem(value ?? "");
  return unlessCancelled(await text({ message: question, initialValue: shown, validate, output: process.stderr }));
}

function unlessCancelled<T extends string>(reply: T | typeof CANCEL_SYMBOL): T {
  if (isCancel(reply)) throw new CommandError(INTERRUPTED, "interrupted; nothing was changed");
  return reply;
}
