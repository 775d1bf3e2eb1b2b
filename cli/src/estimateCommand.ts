/** Defines `estimate`, which needs no database. Its code is loaded when it runs. */
import { type Command, Option } from "commander";
import type { EstimateOptions } from "./estimateOptions.ts";
import { examples } from "./examples.ts";
import { parseAmount, parseCount, parseHours, parseShare } from "./optionValues.ts";

export function defineEstimate(program: Command): void {
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
}
