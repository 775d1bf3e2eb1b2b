/** Defines the commands on a project's files. */
import { type Command, Option } from "commander";
import { examples } from "../examples.ts";
import type { InitOptions } from "./init.ts";
import type { RemoveOptions } from "./remove.ts";
import type { UpgradeOptions } from "./upgrade.ts";

/** They need no database. A command's code is loaded when it runs. */
export function defineSetup(program: Command): void {
  const files = (command: Command) =>
    command.option("--dry-run", "show which files change; change none").option("--diff", "show each line that changes");
  const packages = "a folder with the tarballs of both packages, instead of npm";
  files(program.command("init"))
    .summary("add Tally to this Firebase project: rules, indexes, functions")
    .description(
      "Adds Tally to the Firebase project in this folder: rules, indexes, firebase.json, the functions with their parameters, and the " +
        "app's first calls. Shows the changes and asks. With --yes it asks nothing. An option that you leave out keeps the " +
        "project's value, or its default in a new project.",
    )
    .option("--open <groups>", "groups of counters that everyone may increment (default: views)")
    .option("--once <groups>", "groups that count once for each signed-in user (default: likes)")
    .option("--stock <groups>", "groups that are stock and sell out (default: none)")
    .option("--visitors <groups>", "groups whose visitors are counted, too (default: none)")
    .option("--windows <groups>", "groups with totals of today, this week and this month, or * (default: none)")
    .option("--history <groups>", "groups whose past totals are kept, or * (default: none)")
    .option(
      "--without-functions",
      "rules alone: all increments go to the counter document; init adds the functions later",
    )
    .option("--leaderboards", "with --without-functions: also the index of getTopCounters")
    .option("--limits", "add rate limits to the rules, for documents of your own")
    .addOption(
      new Option("--as <packaging>", "how the functions are deployed (default: codebase)").choices(["codebase", "kit"]),
    )
    .option(
      "--location <location>",
      "of the database, such as nam5 or europe-west1: functions run beside it (default: us-central1)",
    )
    .addOption(
      new Option("--edition <edition>", "of the database (default: standard)").choices(["standard", "enterprise"]),
    )
    .option("--packages <folder>", packages)
    .action(async (options: object, command: Command) => {
      const { init } = await import("./init.ts");
      await init({ ...command.optsWithGlobals<InitOptions>(), ...options });
    })
    .addHelpText(
      "after",
      examples("init --dry-run", "init --yes --open views,claps --once likes --stock tickets --location eur3"),
    );
  files(program.command("upgrade"))
    .summary("bring rules, indexes, functions and client to this version")
    .description(
      "Brings rules, indexes, functions and client of this project to this version. Your policy and your parameters stay.",
    )
    .option("--packages <folder>", packages)
    .action(async (options: object, command: Command) => {
      const { upgrade } = await import("./upgrade.ts");
      await upgrade({ ...command.optsWithGlobals<UpgradeOptions>(), ...options });
    })
    .addHelpText("after", examples("upgrade --dry-run", "upgrade --yes"));
  files(program.command("remove"))
    .summary("take Tally out of this project; the counters stay")
    .description(
      "Takes Tally's rules, indexes, functions and package out of this project. The counters stay in the database.",
    )
    .action(async (options: object, command: Command) => {
      const { remove } = await import("./remove.ts");
      await remove({ ...command.optsWithGlobals<RemoveOptions>(), ...options });
    })
    .addHelpText("after", examples("remove --dry-run"));
}
