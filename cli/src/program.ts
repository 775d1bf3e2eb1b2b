/** Defines the command line: its own options, its help, and all commands. */
import type { Command, Option } from "commander";
import manifest from "../../client/package.json" with { type: "json" };
import { defineChangingCommands } from "./changingCommands.ts";
import { defineEstimate } from "./estimateCommand.ts";
import { HELP_LAYOUT } from "./helpLayout.ts";
import { parseAddress } from "./optionValues.ts";
import { printStatus } from "./output.ts";
import { defineReadingCommands } from "./readingCommands.ts";
import { defineSetup } from "./setup/commands.ts";
import { columnsOf, wrapMessage } from "./wrap.ts";

const CREDENTIALS =
  "Credentials: those of `gcloud auth application-default login`, or the key file that GOOGLE_APPLICATION_CREDENTIALS names. " +
  "The emulator needs none.";

const EXIT_CODES = "Exit codes: 0 done, 1 failed or declined, 2 wrong usage, 130 interrupted.";

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
    .configureHelp(HELP_LAYOUT)
    .configureOutput({
      getOutHelpWidth: () => columnsOf(process.stdout),
      getErrHelpWidth: () => columnsOf(process.stderr),
      outputError: (text) => printStatus(text.trimEnd()),
    })
    .showHelpAfterError("(run firestore-tally --help for more)")
    .addHelpText("after", () => wrapMessage(`\n${CREDENTIALS}\n\n${EXIT_CODES}`, columnsOf(process.stdout)));

  defineSetup(program);
  defineReadingCommands(program);
  defineChangingCommands(program);
  defineEstimate(program);
  return program;
}
