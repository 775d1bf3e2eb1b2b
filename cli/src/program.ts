/** The command line: commands, arguments, options and examples. What a command does is loaded when it runs. */
import { styleText } from "node:util";
import { Argument, type Command, Option } from "commander";
import manifest from "../../client/package.json" with { type: "json" };
import type { EstimateOptions } from "./estimate.ts";
import type { GlobalOptions, Session } from "./session.ts";
import { address, amount, count, hours, number, share, span } from "./values.ts";

/** A command on a database: its own options, and then its arguments. */
type Run = (session: Session, options: never, ...args: never[]) => Promise<void>;

/** Opens the database and loads the command only when it runs: `--help` and wrong usage need neither. */
function onDatabase(load: () => Promise<Run>) {
  return async (...all: unknown[]) => {
    const command = all.at(-1) as Command;
    const options = command.optsWithGlobals<GlobalOptions>();
    const [{ openSession }, run] = await Promise.all([import("./session.ts"), load()]);
    await run(await openSession(options), options as never, ...(command.processedArgs as never[]));
  };
}

const collect = (value: string, before: readonly string[] = []) => [...before, value];

/** Adds everything to a fresh program. */
export function define(program: Command): Command {
  program
    .name("firestore-tally")
    .description("Looks at the counters of a Firestore database, and looks after them.")
    .version(manifest.version)
    .option("--project <id>", "project; default: GOOGLE_CLOUD_PROJECT, the credentials' own, or .firebaserc")
    .option("--database <id>", 'database (default: "(default)")')
    .option("--collection <id>", 'collection of the counters (default: "counters")')
    .option(
      "--emulator [host:port]",
      "the emulator; default: FIRESTORE_EMULATOR_HOST if set, else 127.0.0.1:8080",
      address,
    )
    .option("--json", "results as JSON, for scripts")
    .option("--yes", "do not ask")
    .option("--verbose", "errors with their stack")
    .helpCommand(false)
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (title) => styleText("bold", title, { validateStream: false }),
    })
    .showHelpAfterError("(firestore-tally --help tells more)")
    .addHelpText(
      "after",
      `
Credentials: those of \`gcloud auth application-default login\`, or the key file that
GOOGLE_APPLICATION_CREDENTIALS names. The emulator needs none.

Exit codes: 0 done, 1 failed or declined, 2 wrong usage, 130 interrupted.`,
    );

  program
    .command("inspect")
    .summary("one counter: its total, the exact sum, its shards")
    .description("Shows one counter: its published total, the exact sum of its shards, how they are and what is wrong.")
    .argument("<id>", "the counter, such as likes:post42")
    .action(onDatabase(async () => (await import("./inspect.ts")).inspect))
    .addHelpText("after", examples("inspect likes:post42", "inspect likes:post42 --json --emulator"));

  program
    .command("top")
    .summary("the largest counters of a group")
    .description("Lists the counters of a group with the largest totals or rates.")
    .argument("<group>", 'what stands before the first colon of their ids; "" for those without one')
    .addOption(new Option("--by <field>", "what decides").choices(["total", "rate"]).default("total"))
    .option("--limit <n>", "how many", count, 10)
    .action(onDatabase(async () => (await import("./top.ts")).top))
    .addHelpText("after", examples("top likes", "top views --by rate --limit 5"));

  program
    .command("reconcile")
    .summary("compare counters with their source of truth, and correct them")
    .description(
      "Compares counters with their source of truth at one instant, and corrects those that have drifted. " +
        "Without a source, each is compared with the one that is stored with it.",
    )
    .argument("[ids...]", "the counters")
    .option("--group <group>", "all counters of a group")
    .option("--ungrouped", "all counters whose ids have no colon")
    .option("--dry-run", "only compare")
    .option("--entries", "source: the counter's own entries")
    .option("--from <path>", "source: the documents of a collection; {id} and {key} stand for the counter's")
    .option("--from-group <name>", "source: the documents of a collection group")
    .option("--where <comparison>", 'of those, the ones where "field == value"; may be repeated', collect)
    .option("--sum <field>", "the sum of a field, instead of the number of documents")
    .option("--keep", "store the source, so that it need not be named again")
    .option("--every <span>", "with --keep: let the functions reconcile this often, such as 24h", span)
    .option("--alarm-beyond <n>", "with --keep: how much drift they find before they alarm", amount)
    .option("--after <id>", "go on after this counter")
    .action(onDatabase(async () => (await import("./reconcile.ts")).reconcile))
    .addHelpText(
      "after",
      examples(
        "reconcile likes:post42 --entries --dry-run",
        'reconcile --group comments --from "posts/{key}/comments" --where "state == public"',
        "reconcile sales:shoes --from orders --sum quantity --keep --every 24h",
      ),
    );

  program
    .command("reset")
    .summary("set a counter to a total")
    .description("Sets a counter to a total. Increments that are made meanwhile count. Keys that count still do.")
    .argument("<id>", "the counter")
    // As an argument, -5 would be taken for an option.
    .addArgument(new Argument("<total>", "the total from now on; after -- if it is negative").argParser(number))
    .action(onDatabase(async () => (await import("./reset.ts")).reset))
    .addHelpText("after", examples("reset visits:today 0", "reset --yes balance:alice -- -5"));

  program
    .command("fold")
    .summary("fold surplus shards now")
    .description(
      "Moves surplus shards into the base shard now, instead of when the sweep does it. Totals do not change; reading " +
        "the counters gets cheaper.",
    )
    .argument("[ids...]", "the counters")
    .option("--group <group>", "all counters of a group")
    .option("--ungrouped", "all counters whose ids have no colon")
    .option("--quiet-for <seconds>", "only shards that were not written for so long", amount, 600)
    .option("--after <id>", "go on after this counter")
    .action(onDatabase(async () => (await import("./fold.ts")).fold))
    .addHelpText("after", examples("fold views:home", "fold --group views --quiet-for 3600"));

  program
    .command("delete")
    .summary("delete counters and all that belongs to them")
    .description("Deletes counters with their shards, entries and all else. Stop who increments them first.")
    .argument("[ids...]", "the counters")
    .option("--group <group>", "all counters of a group that have a published total")
    .option("--ungrouped", "all counters whose ids have no colon")
    .option("--after <id>", "go on after this counter")
    .action(onDatabase(async () => (await import("./delete.ts")).deleteCounters))
    .addHelpText(
      "after",
      examples("delete likes:post42", "delete --group likes", "delete --group likes --after likes:post41"),
    );

  program
    .command("estimate")
    .summary("what a traffic costs in a month")
    .description("Estimates what a traffic costs in a month, item by item. Touches no database.")
    .option("--per-second <n>", "increments per second, of all counters together, on average", amount)
    .option("--per-day <n>", "or: increments per day", amount)
    .option("--peak <n>", "increments per second in the busy part of the day", amount)
    .option("--peak-hours <n>", "how long that lasts", hours, 2)
    .option("--counters <n>", "how many counters share this, evenly", count, 1)
    .option("--keyed <share>", "how many increments have a key, such as 30%", share, 0)
    .option("--watchers <n>", "clients that watch one counter, on average", amount, 0)
    .option("--reads-per-day <n>", "totals read, or watches begun, in a day, of all counters", amount, 0)
    .option("--per-client <n>", "increments a client makes of a counter in two minutes; 0 if it watches it", amount, 1)
    .option("--total <n>", "what the total of a counter is (default: half a month's increments)", amount)
    .addOption(new Option("--region <region>", "where the database is").choices(["nam5", "regional"]).default("nam5"))
    .option("--compare", "beside fixed shards and Redis")
    .action(async (_, command: Command) => {
      const { estimate } = await import("./estimate.ts");
      await estimate(command.optsWithGlobals<EstimateOptions>());
    })
    .addHelpText(
      "after",
      examples(
        "estimate --per-second 100",
        "estimate --per-day 200000 --peak 50 --counters 1000 --keyed 100% --watchers 2",
        "estimate --per-second 100 --reads-per-day 1000000 --compare",
      ),
    );

  return program;
}

function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  npx firestore-tally ${line}`).join("\n")}`;
}
