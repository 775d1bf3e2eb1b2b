/** Defines the commands that change counters. A command's code is loaded when it runs. */
import { Argument, type Command } from "commander";
import { examples } from "./examples.ts";
import { onDatabase } from "./onDatabase.ts";
import { parseAmount, parseInterval, parseNumber } from "./optionValues.ts";

const collect = (value: string, before: readonly string[] = []) => [...before, value];

/** Adds the argument and the options that `parseSelection` takes. */
function withSelection(command: Command, group = "all counters of a group"): Command {
  return command
    .argument("[ids...]", "the counters")
    .option("--group <group>", group)
    .option("--ungrouped", "all counters whose ids have no colon")
    .option("--after <id>", "resume after this counter");
}

export function defineChangingCommands(program: Command): void {
  withSelection(program.command("reconcile"))
    .summary("compare counters with their source of truth, and correct them")
    .description(
      "Compares counters with their source of truth at one instant, and corrects those that have drifted. " +
        "Without a source option, each counter is compared with its stored source.",
    )
    .option("--dry-run", "compare only; change nothing")
    .option("--entries", "source: the counter's own entries")
    .option("--from <path>", "source: the documents of a collection; {id} and {name} become the counter's id and name")
    .option("--from-group <name>", "source: the documents of a collection group")
    .option("--where <comparison>", 'only documents where "field == value"; may be repeated', collect)
    .option("--sum <field>", "the sum of a field instead of the number of documents")
    .option("--keep", "store the source for the next time")
    .option("--every <duration>", "with --keep: the functions reconcile this often, such as 24h", parseInterval)
    .option("--alarm-beyond <n>", "with --keep: the functions alarm about a larger drift", parseAmount)
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

  withSelection(program.command("fold"))
    .summary("fold surplus shards now")
    .description(
      "Moves surplus shards into the base shard now, instead of after the cool-down. Totals do not change; reading the " +
        "counters gets cheaper.",
    )
    .option("--quiet-for <seconds>", "only shards without a write for this long", parseAmount, 600)
    .action(onDatabase(async () => (await import("./fold.ts")).fold))
    .addHelpText("after", examples("fold views:home", "fold --group views --quiet-for 3600"));

  withSelection(program.command("publish"))
    .summary("publish counters again, and write their mirrors")
    .description(
      "Has the functions publish counters again. Then a field that MIRRORS names shows the total again, if its document was made " +
        "later, or written by hand.",
    )
    .action(onDatabase(async () => (await import("./publish.ts")).publish))
    .addHelpText("after", examples("publish likes:post42", "publish --group likes"));

  withSelection(program.command("exchange"))
    .summary("push counters to the other regions now")
    .description(
      "Brings counters to the other regions now, whether they have changed or not: for a region that was added, or restored " +
        "from a backup.",
    )
    .requiredOption("--regions <list>", "as the parameter REGIONS: us=(default), eu=tally-eu; one has --database")
    .action(onDatabase(async () => (await import("./exchange.ts")).exchange))
    .addHelpText("after", examples('exchange --group views --regions "us=(default), eu=tally-eu"'));

  withSelection(program.command("delete"), "all counters of a group that have a published total")
    .summary("delete counters and everything below them")
    .description(
      "Deletes counters with their shards, entries and everything else below them, except receipts, which expire by themselves. Stop all writers first.",
    )
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
}
