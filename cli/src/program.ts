/** Defines the command line: commands, arguments, options and examples. A command's code is loaded when it runs. */
import { styleText } from "node:util";
import { Argument, type Command, Option } from "commander";
import manifest from "../../client/package.json" with { type: "json" };
import { WINDOW_NAMES } from "../../core/src/index.ts";
import type { CommandContext, GlobalOptions } from "./commandContext.ts";
import type { EstimateOptions } from "./estimateOptions.ts";
import { examples } from "./examples.ts";
import {
  parseAddress,
  parseAmount,
  parseCount,
  parseHours,
  parseInterval,
  parseNumber,
  parseShare,
} from "./optionValues.ts";
import { defineSetup } from "./setup/commands.ts";

/** A command on a database, with its options and its arguments. */
type DatabaseCommand = (context: CommandContext, options: never, ...args: never[]) => Promise<void>;

/** Opens the database and loads the command when it runs: `--help` and wrong usage need neither. */
function onDatabase(load: () => Promise<DatabaseCommand>) {
  return async (...all: unknown[]) => {
    const command = all.at(-1) as Command;
    const options = command.optsWithGlobals<GlobalOptions>();
    const [{ openContext }, run] = await Promise.all([import("./commandContext.ts"), load()]);
    await run(await openContext(options), options as never, ...(command.processedArgs as never[]));
  };
}

const collect = (value: string, before: readonly string[] = []) => [...before, value];

/** An unset variable of a shell script gives an empty value, which must not mean the default: of `--project`, another database. */
function refuseEmpty(command: Command): void {
  for (const [name, value] of Object.entries(command.optsWithGlobals())) {
    const { long } = [...command.options, ...(command.parent?.options ?? [])].find(
      (option) => option.attributeName() === name,
    ) as Option;
    // Its own check names the alternative.
    if (name !== "group" && [value].flat().includes(""))
      command.error(`error: ${long} is empty; pass a value, or leave it out`);
  }
}

/** Adds all commands to a new program. */
export function defineProgram(program: Command): Command {
  program
    .name("firestore-tally")
    .description("Adds counters to a Firebase project, inspects them and maintains them.")
    .version(manifest.version)
    .option("--project <id>", "project; default: GOOGLE_CLOUD_PROJECT, the project of the credentials, or .firebaserc")
    .option("--database <id>", 'database (default: "(default)")')
    .option("--collection <id>", 'collection of the counters (default: "counters")')
    .option(
      "--emulator [host:port]",
      "use the emulator; default: FIRESTORE_EMULATOR_HOST, the port in firebase.json, or 127.0.0.1:8080",
      parseAddress,
    )
    .option("--json", "print results as JSON, for scripts")
    .option("--yes", "do not ask")
    .option("--verbose", "print errors with their stack")
    .helpCommand(false)
    .hook("preAction", (_, command) => refuseEmpty(command))
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (title) => styleText("bold", title, { validateStream: false }),
    })
    .showHelpAfterError("(run firestore-tally --help for more)")
    .addHelpText(
      "after",
      `
Credentials: those of \`gcloud auth application-default login\`, or the key file that
GOOGLE_APPLICATION_CREDENTIALS names. The emulator needs none.

Exit codes: 0 done, 1 failed or declined, 2 wrong usage, 130 interrupted.`,
    );

  defineSetup(program);
  program
    .command("inspect")
    .summary("one counter: its total, the exact sum, its shards")
    .description("Shows one counter: its published total, the exact sum, the state of the shards, and warnings.")
    .argument("<id>", "the counter, such as likes:post42")
    .action(onDatabase(async () => (await import("./inspect.ts")).inspect))
    .addHelpText("after", examples("inspect likes:post42", "inspect likes:post42 --json --emulator"));

  program
    .command("doctor")
    .summary("is this project set up right? findings, each with its remedy")
    .description(
      "Checks rules, indexes, TTL policies, functions, parameters, task queue, roles, App Check and a sample of the " +
        "counters. Writes nothing.",
    )
    .option("--sample <n>", "the number of counters", parseCount, 20)
    .option("--strict", "fail for warnings and for what could not be seen, too")
    .action(onDatabase(async () => (await import("./doctor/doctor.ts")).doctor))
    .addHelpText("after", examples("doctor --strict", "doctor --sample 200 --json", "doctor --emulator"));

  program
    .command("top")
    .summary("the largest counters of a group")
    .description(
      "Lists the counters of a group with the largest totals or rates, or that have counted most in a window.",
    )
    .argument("<group>", 'the part of their ids before the first colon; "" for counters without one')
    .addOption(new Option("--order-by <field>", "the order").choices(["total", "rate"]).default("total"))
    .addOption(
      new Option("--window <window>", "by what was counted today, this week or this month").choices(WINDOW_NAMES),
    )
    .option("--limit <n>", "the number of counters", parseCount, 10)
    .action(onDatabase(async () => (await import("./top.ts")).top))
    .addHelpText("after", examples("top likes", "top views --order-by rate --limit 5", "top views --window day"));

  program
    .command("reconcile")
    .summary("compare counters with their source of truth, and correct them")
    .description(
      "Compares counters with their source of truth at one instant, and corrects those that have drifted. " +
        "Without a source option, each counter is compared with its stored source.",
    )
    .argument("[ids...]", "the counters")
    .option("--group <group>", "all counters of a group")
    .option("--ungrouped", "all counters whose ids have no colon")
    .option("--dry-run", "compare only; change nothing")
    .option("--entries", "source: the counter's own entries")
    .option("--from <path>", "source: the documents of a collection; {id} and {name} become the counter's id and name")
    .option("--from-group <name>", "source: the documents of a collection group")
    .option("--where <comparison>", 'only documents where "field == value"; may be repeated', collect)
    .option("--sum <field>", "the sum of a field instead of the number of documents")
    .option("--keep", "store the source for the next time")
    .option("--every <duration>", "with --keep: the functions reconcile this often, such as 24h", parseInterval)
    .option("--alarm-beyond <n>", "with --keep: the functions alarm about a larger drift", parseAmount)
    .option("--after <id>", "resume after this counter")
    .action(onDatabase(async () => (await import("./reconcile.ts")).reconcile))
    .addHelpText(
      "after",
      examples(
        "reconcile likes:post42 --entries --dry-run",
        'reconcile --group reviews --from "items/{name}/reviews" --where "state == public"',
        "reconcile sales:shoes --from orders --sum quantity --keep --every 24h",
      ),
    );

  program
    .command("reset")
    .summary("set a counter to a total")
    .description(
      "Sets a counter to a total. Increments made at the same time count. What was counted once stays counted.",
    )
    .argument("<id>", "the counter")
    // Without --, -5 would be parsed as an option.
    .addArgument(
      new Argument(
        "[total]",
        "the new total, or none to forget the visitors alone; put a negative one after --",
      ).argParser(parseNumber),
    )
    .option("--visitors", "forget the visitors; browsers then count their users again")
    .action(onDatabase(async () => (await import("./reset.ts")).reset))
    .addHelpText(
      "after",
      examples("reset visits:today 0", "reset views:home --visitors", "reset --yes balance:alice -- -5"),
    );

  program
    .command("fold")
    .summary("fold surplus shards now")
    .description(
      "Moves surplus shards into the base shard now, instead of after the cool-down. Totals do not change; reading the " +
        "counters gets cheaper.",
    )
    .argument("[ids...]", "the counters")
    .option("--group <group>", "all counters of a group")
    .option("--ungrouped", "all counters whose ids have no colon")
    .option("--quiet-for <seconds>", "only shards without a write for this long", parseAmount, 600)
    .option("--after <id>", "resume after this counter")
    .action(onDatabase(async () => (await import("./fold.ts")).fold))
    .addHelpText("after", examples("fold views:home", "fold --group views --quiet-for 3600"));

  program
    .command("publish")
    .summary("publish counters again, and write their mirrors")
    .description(
      "Has the functions publish counters again. Then a field that MIRRORS names shows the total again, if its document was made " +
        "later, or written by hand.",
    )
    .argument("[ids...]", "the counters")
    .option("--group <group>", "all counters of a group")
    .option("--ungrouped", "all counters whose ids have no colon")
    .option("--after <id>", "resume after this counter")
    .action(onDatabase(async () => (await import("./publish.ts")).publish))
    .addHelpText("after", examples("publish likes:post42", "publish --group likes"));

  program
    .command("exchange")
    .summary("push counters to the other regions now")
    .description(
      "Brings counters to the other regions now, whether they have changed or not: for a region that was added, or restored " +
        "from a backup.",
    )
    .argument("[ids...]", "the counters")
    .requiredOption("--regions <list>", "as the parameter REGIONS: us=(default), eu=tally-eu; one has --database")
    .option("--group <group>", "all counters of a group")
    .option("--ungrouped", "all counters whose ids have no colon")
    .option("--after <id>", "resume after this counter")
    .action(onDatabase(async () => (await import("./exchange.ts")).exchange))
    .addHelpText("after", examples('exchange --group views --regions "us=(default), eu=tally-eu"'));

  program
    .command("delete")
    .summary("delete counters and everything below them")
    .description(
      "Deletes counters with their shards, entries and everything else below them, except receipts, which expire by themselves. Stop all writers first.",
    )
    .argument("[ids...]", "the counters")
    .option("--group <group>", "all counters of a group that have a published total")
    .option("--ungrouped", "all counters whose ids have no colon")
    .option("--after <id>", "resume after this counter")
    .action(onDatabase(async () => (await import("./delete.ts")).deleteCounters))
    .addHelpText(
      "after",
      examples("delete likes:post42", "delete --group likes", "delete --group likes --after likes:post41"),
    );

  program
    .command("migrate")
    .summary("move from Google's counter")
    .description(
      "Imports the totals of Google's counter, extension or kit, each exactly once, while old and new apps count. May be repeated.",
    )
    .option("--map <map>", "a field and its counters: pages/{page}.visits=views:{page}; may be repeated", collect)
    .option("--dry-run", "show how much there is, and what it costs; change nothing")
    .option("--rollback", "give the fields the totals of their counters, for Google's counter to go on from")
    .option("--after <path>", "resume after this document")
    .action(onDatabase(async () => (await import("./migrate.ts")).migrate))
    .addHelpText(
      "after",
      examples(
        'migrate --map "pages/{page}.visits=views:{page}" --dry-run',
        'migrate --map "pages/{page}.visits=views:{page}" --map "pages/{page}.stats.likes=stars:{page}"',
        'migrate --map "users/{user}/posts/{post}.likes=likes:{user}:{post}" --rollback',
      ),
    );

  program
    .command("adopt")
    .summary("take over counters made by hand, with num_shards")
    .description(
      "Adds what counters of Firebase's recipe for distributed counters lack, and publishes their totals, while old apps count. " +
        "May be repeated. Without ids: all counters that have num_shards.",
    )
    .argument("[ids...]", "the counters; also those without num_shards, whose number of shards is in the code")
    .option("--dry-run", "show what would be done; change nothing")
    .option("--end", "when no old app is left: let the functions fold the shards that only old apps need")
    .option("--after <id>", "resume after this counter")
    .action(onDatabase(async () => (await import("./adopt.ts")).adopt))
    .addHelpText("after", examples("adopt --dry-run", "adopt", "adopt likes-total --end"));

  program
    .command("estimate")
    .summary("what traffic costs in a month")
    .description("Estimates what traffic costs in a month, item by item. Needs no database.")
    .option("--per-second <n>", "average increments per second, of all counters together", parseAmount)
    .option("--per-day <n>", "or: increments per day", parseAmount)
    .addOption(
      new Option("--pages <n>", "or: pages that show their views and likes live, with --views and --likes")
        .argParser(parseCount)
        .conflicts(["perSecond", "perDay", "peak", "counters", "once", "watchers", "readsPerDay", "batch", "regions"]),
    )
    .option("--views <n>", "views of all pages in a month", parseAmount)
    .option("--likes <n>", "likes of all pages in a month", parseAmount)
    .option("--peak <n>", "increments per second in the busy part of the day", parseAmount)
    .option("--peak-hours <n>", "how long the busy part lasts", parseHours, 2)
    .option("--counters <n>", "how many counters share the traffic evenly", parseCount, 1)
    .option("--once <share>", "share of increments with once, such as 30%", parseShare, 0)
    .option("--watchers <n>", "average number of clients that watch one counter", parseAmount, 0)
    .option("--reads-per-day <n>", "reads of a total and new watches per day, of all counters", parseAmount, 0)
    .option(
      "--per-client <n>",
      "increments of one counter by one client in two minutes; 0 if it watches it",
      parseAmount,
      1,
    )
    .option("--batch <n>", "events of a request, if all increments come through ingest", parseCount)
    .option("--history", "past totals are kept")
    .option("--no-direct", "no increments in counter documents: of servers, counters with windows, history or mirrors")
    .option("--regions <n>", "databases over which the traffic is spread", parseCount)
    .option("--total <n>", "the total of one counter (default: half a month's increments)", parseAmount)
    .addOption(
      new Option("--edition <edition>", "edition of the database")
        .choices(["standard", "enterprise"])
        .default("standard"),
    )
    .addOption(
      new Option(
        "--region <region>",
        "location of the database (default: nam5; on Enterprise regional, which is us-central1)",
      ).choices(["nam5", "regional"]),
    )
    .option("--compare", "compare with fixed shards and Redis, on both editions")
    .action(async (_, command: Command) => {
      const { estimate } = await import("./estimate.ts");
      await estimate(command.optsWithGlobals<EstimateOptions>());
    })
    .addHelpText(
      "after",
      examples(
        "estimate --pages 500 --views 1000000 --likes 20000 --compare",
        "estimate --per-second 100",
        "estimate --per-day 200000 --peak 50 --counters 1000 --once 100% --watchers 2",
        "estimate --per-second 100 --reads-per-day 1000000 --compare",
        "estimate --per-second 1000 --batch 10",
        "estimate --per-second 100 --edition enterprise",
      ),
    );

  return program;
}
