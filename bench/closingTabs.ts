/**
 * What a closing page loses: of five views, a like and an unlike, how many the server has when the page ends soon after the calls.
 * Tally beside the SDK alone (`setDoc` with `increment`, a batch for a like), on the same kind of page, taking turns. No functions run.
 *
 *     npm run bench:closing -- [--states watched] [--ends close freeze] [--after 0 100] [--help]
 */
import { writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import {
  CACHES,
  CLIENTS,
  COUNTERS,
  END_NAMES,
  type Kept,
  type Outcome,
  PARTS,
  type RunPage,
  type Scenario,
  STATES,
  withPages,
  written,
} from "./closingPages.ts";
import { fixed, tableOf } from "./markdown.ts";
import { withEmulators } from "./meteredEmulators.ts";
import type { Client } from "./pages/closing.ts";
import { step } from "./progress.ts";

function names<Name extends string>(flags: string, what: string, all: readonly Name[], usual = all): Option {
  return new Option(`${flags} <names...>`, what).choices(all).default(usual, usual.join(", "));
}

const options = new Command("npm run bench:closing --")
  .helpOption("--help")
  .addOption(
    names(
      "--caches",
      "the SDK's queue: in memory, on disk beside another tab, or on disk alone",
      CACHES,
      CACHES.slice(0, 2),
    ),
  )
  .addOption(names("--counters", "the counters before", COUNTERS))
  .addOption(names("--states", "what the page knows of them", STATES))
  .addOption(names("--ends", "how the page ends", END_NAMES, ["close"]))
  .addOption(names("--clients", "what writes; batch: Tally in batches of the app", CLIENTS, CLIENTS.slice(0, 2)))
  .option("--after <ms...>", "how long after the last call", ["0", "30", "100", "400"])
  .option("--round-trips <ms...>", "to Firestore", ["2", "100"])
  .option("--views <n>", "views of a page", "5")
  .option("--no-likes", "leaves out the like and the unlike")
  .option("--like-after <ms>", "how long after the views the like and the unlike come", "0")
  .option("--idle <ms>", "how long the page has been idle before the calls; its clock jumps", "0")
  .option("--pages <n>", "of each kind and client", "10")
  .option("--out <file>", "where the results also go, as JSON")
  .parse()
  .opts<{
    readonly caches: readonly Scenario["cache"][];
    readonly counters: readonly Scenario["counter"][];
    readonly states: readonly Scenario["state"][];
    readonly ends: readonly Scenario["end"][];
    readonly clients: readonly Client[];
    readonly after: readonly string[];
    readonly roundTrips: readonly string[];
    readonly views: string;
    readonly likes: boolean;
    readonly likeAfter: string;
    readonly idle: string;
    readonly pages: string;
    readonly out?: string;
  }>();

/** The pages of one kind, by client. */
interface Result extends Scenario {
  readonly outcomes: ReadonlyMap<Client, readonly Outcome[]>;
}

const scenarios: Scenario[] = options.caches.flatMap((cache) =>
  options.roundTrips.flatMap((roundTrip) =>
    options.counters.flatMap((counter) =>
      options.states.flatMap((state) =>
        options.ends.flatMap((end) =>
          options.after.map((after) => ({
            ...{ cache, counter, state, end, after: Number(after), roundTrip: Number(roundTrip) },
            ...{ views: Number(options.views), likes: options.likes },
            ...{ likeAfter: Number(options.likeAfter), idle: Number(options.idle) },
          })),
        ),
      ),
    ),
  ),
);

/**
 * Clients take turns, in both orders, so that other load on the machine affects them alike. Resolves when all pages have ended, to a
 * function that waits for what becomes of their writes.
 */
async function measure(scenario: Scenario, run: RunPage): Promise<() => Promise<Result>> {
  const outcomes = new Map<Client, Promise<Outcome>[]>(options.clients.map((client) => [client, []]));
  for (let page = 0; page < Number(options.pages); page++) {
    for (const client of page % 2 ? options.clients : options.clients.toReversed()) {
      const outcome = (await run(scenario, client))();
      // It is awaited at the end.
      outcome.catch(() => {});
      outcomes.get(client)?.push(outcome);
    }
  }
  return async () => {
    const settled = [...outcomes].map(async ([client, list]) => [client, await Promise.all(list)] as const);
    return { ...scenario, outcomes: new Map(await Promise.all(settled)) };
  };
}

/** `4.2`; `4.2 → 5.0` if more arrives with the next visit; `5.0 (+1.0)` if some counts twice in the end. */
function kept(result: Result, client: Client, part: keyof Kept): string {
  const outcomes = result.outcomes.get(client) ?? [];
  const all = written(result, client)[part];
  const mean = (numberOf: (outcome: Outcome) => number) =>
    fixed(outcomes.reduce((sum, outcome) => sum + numberOf(outcome), 0) / outcomes.length, 1);
  const inTheEnd = ({ kept, keptLater = kept }: Outcome) => keptLater[part];
  const atOnce = mean((outcome) => Math.min(outcome.kept[part], all));
  const later = mean((outcome) => Math.min(inTheEnd(outcome), all));
  const twice = mean((outcome) => Math.max(inTheEnd(outcome) - all, 0));
  return `${atOnce}${atOnce === later ? "" : ` → ${later}`}${twice === "0.0" ? "" : ` (+${twice})`}`;
}

function tableOfResults(results: readonly Result[]): string {
  const columns = PARTS.flatMap((part) =>
    options.clients
      .filter((client) => results.some((result) => written(result, client)[part] > 0))
      .map((client) => [`${part}, ${client}`, (result: Result) => kept(result, client, part)] as const),
  );
  return tableOf(results, 4, {
    cache: ({ cache, roundTrip }) => `${cache}, ${roundTrip} ms`,
    counter: ({ counter }) => counter,
    state: ({ state }) => state,
    end: ({ end }) => end,
    after: ({ after }) => `${after} ms`,
    ...Object.fromEntries(columns),
  });
}

const results = await withEmulators("hosted", (firestore) =>
  withPages(firestore, (run) =>
    step("Closing tabs", async (progress) => {
      const ended: (() => Promise<Result>)[] = [];
      for (const scenario of scenarios) {
        ended.push(await measure(scenario, run));
        progress(`${ended.length} of ${scenarios.length} kinds of pages`);
      }
      return await Promise.all(ended.map((settle) => settle()));
    }),
  ),
);
console.log(tableOfResults(results));
if (options.out) {
  const lines = results.map(({ outcomes, ...scenario }) =>
    JSON.stringify({ ...scenario, ...Object.fromEntries(outcomes) }),
  );
  writeFileSync(options.out, `[\n${lines.join(",\n")}\n]\n`);
}
