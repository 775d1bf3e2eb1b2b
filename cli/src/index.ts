#!/usr/bin/env node
/** `npx firestore-tally`: runs the command line, and ends with one line and an exit code if that fails. */
import { Command, CommanderError } from "commander";
import { define } from "./program.ts";
import { paint, shown, tell } from "./screen.ts";
import { stopFor, WRONG_USAGE } from "./stop.ts";

const verbose = process.argv.includes("--verbose") || process.env.DEBUG !== undefined;
// Those of the libraries, on looking for credentials and the like.
if (!verbose) process.removeAllListeners("warning");
// Who reads us through a pipe may have had enough.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

// The libraries look for credentials in the background, and tell nobody else when there are none.
process.on("unhandledRejection", (error) => void end(fail(error)));
await end(await run());

async function run(): Promise<number> {
  // Made so that commands get the settings of the program they are added to.
  const program = define(new Command().exitOverride());
  try {
    await program.parseAsync();
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
    return fail(error);
  }
}

function fail(error: unknown): number {
  const stop = stopFor(error);
  tell(`${paint("red", "error:", process.stderr)} ${stop.message}`);
  if (verbose)
    tell(
      String(((stop.cause ?? stop) as Error).stack)
        .split("\n")
        .map(shown)
        .join("\n"),
    );
  return stop.exitCode;
}

/** At once: what an interrupt has left under way would keep the process alive. */
async function end(exitCode: number): Promise<never> {
  await new Promise((resolve) => process.stdout.write("", resolve));
  process.exit(exitCode);
}
