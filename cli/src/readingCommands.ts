/** Defines the commands that read the database. A command's code is loaded when it runs. */
import { type Command, Option } from "commander";
import { WINDOW_NAMES } from "../../core/src/index.ts";
import { examples } from "./examples.ts";
import { onDatabase } from "./onDatabase.ts";
import { parseCount } from "./optionValues.ts";

export function defineReadingCommands(program: Command): void {
  program
    .command("inspect")
    .summary("one counter: its total, the exact sum, its shards")
    .description("Shows one counter: its published total, the exact sum, the state of the shards, and warnings.")
    .argument("<id>", "the counter, such as likes:post42")
    .action(onDatabase(async () => (await import("./inspect.ts")).inspect))
    .addHelpText("after", examples("inspect likes:post42", "inspect likes:post42 --json --emulator"));

  program
    .command("watch")
    .summary("one counter, live")
    .description(
      "Shows the total of one counter, each time that it changes, until Ctrl-C. With --json: one JSON document a line.",
    )
    .argument("<id>", "the counter, such as likes:post42")
    .action(onDatabase(async () => (await import("./watch.ts")).watch))
    .addHelpText("after", examples("watch likes:post42", "watch likes:post42 --json"));

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
}
