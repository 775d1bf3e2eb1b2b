/** What an app's developer decides: asked on a terminal, or given by options. */
import { type CANCEL_SYMBOL, isCancel, select, text } from "@clack/prompts";
import { DEFAULT_COLLECTION } from "../../../core/src/index.ts";
import type { Edition } from "../../../functions/src/decisions.ts";
import { CommandError, INTERRUPTED, WRONG_USAGE } from "../commandError.ts";
import { DEFAULT_LOCATION, parseLocation, regionsBeside } from "./location.ts";
import type { RulesChoice } from "./rules/composed.ts";

/** How the functions are deployed. */
export type Packaging = "codebase" | "kit";

/** Lists of groups, by option. A group is what stands before the colon of a counter's id. */
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

export interface Choice extends RulesChoice {
  readonly packaging: Packaging;
  /** The region of the functions. */
  readonly location: string;
  readonly database: string;
  readonly edition: Edition;
}

export interface ChoiceOptions extends Readonly<Partial<Record<GroupList, string>>> {
  readonly limits?: boolean;
  readonly as?: Packaging;
  readonly location?: string;
  readonly database?: string;
  readonly edition?: Edition;
  readonly collection?: string;
}

/** @throws CommandError if a name cannot be a group */
export function parseGroups(option: string, list: string): string[] {
  if (list.trim() === "none") return [];
  const groups = list.split(",").map((one) => one.trim());
  const wrong = groups.find((one) => !/^[\w.~-]+$/.test(one));
  if (wrong === undefined) return [...new Set(groups)];
  throw new CommandError(
    WRONG_USAGE,
    `--${option} ${JSON.stringify(list)}: name groups with letters, digits, _, -, . or ~, separated by commas, or none`,
  );
}

/**
 * @param ask      whether to ask for what no option gives; else the defaults are taken
 * @param current  what the rules have already, instead of the defaults
 */
export async function choose(options: ChoiceOptions, ask: boolean, current?: RulesChoice): Promise<Choice> {
  const answer = async (question: string, byDefault: string, given: string | undefined) => {
    if (given !== undefined || !ask) return given ?? byDefault;
    return answered(await text({ message: question, initialValue: byDefault, output: process.stderr }));
  };
  const lists: Partial<Record<GroupList, readonly string[]>> = {};
  for (const [name, list] of Object.entries(GROUP_LISTS) as [GroupList, (typeof GROUP_LISTS)[GroupList]][]) {
    const byDefault = current ? current[name].join(",") || "none" : list.default;
    const groups = parseGroups(name, await answer(list.question, byDefault, options[name]));
    // What an option names is added. An answer replaces what the question has shown.
    lists[name] = options[name] === undefined ? groups : [...new Set([...(current?.[name] ?? []), ...groups])];
  }
  const { open = [], once = [], stock = [], visitors = [] } = lists;
  const twice =
    once.find((group) => stock.includes(group) || open.includes(group)) ?? open.find((one) => stock.includes(one));
  if (twice !== undefined)
    throw new CommandError(WRONG_USAGE, `${twice} is in two of --open, --once and --stock; a group counts in one way`);
  const location = await answer(
    "Where is your Firestore database? Such as nam5 or europe-west1",
    DEFAULT_LOCATION,
    options.location,
  );
  return {
    ...{ open, once, stock, visitors },
    limits: options.limits ?? current?.limits ?? false,
    packaging: options.as ?? (ask ? await choosePackaging() : "codebase"),
    location: regionsBeside(parseLocation(location))[0],
    database: options.database ?? "(default)",
    edition: options.edition ?? "standard",
    collection: options.collection ?? current?.collection ?? DEFAULT_COLLECTION,
  };
}

async function choosePackaging(): Promise<Packaging> {
  return answered(
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

function answered<T extends string>(answer: T | typeof CANCEL_SYMBOL): T {
  if (isCancel(answer)) throw new CommandError(INTERRUPTED, "interrupted; nothing was changed");
  return answer;
}
