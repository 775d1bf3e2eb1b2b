#!/usr/bin/env node
/** `npx firestore-tally`: runs the command line. A failure prints one line and sets the exit code. */
import { Command, CommanderError } from "commander";
import { toCommandError, WRONG_USAGE } from "./commandError.ts";
import { escapeControls } from "./escape.ts";
import { paint, printStatus } from "./output.ts";
import { defineProgram } from "./program.ts";

const verbose = process.argv.includes("--verbose") || process.env.DEBUG !== undefined;
// Hides the warnings of libraries, such as those about missing credentials.
if (!verbose) process.removeAllListeners("warning");
// The reader of a pipe, such as `head`, may close it early.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

// Libraries look for credentials in the background, and a failure surfaces only here.
process.on("unhandledRejection", (error) => void exit(fail(error)));
await exit(await run());

async function run(): Promise<number> {
  // Set before commands are added: they inherit the settings.
  const program = defineProgram(new Command().exitOverride());
  try {
    await program.parseAsync();
    // `doctor` has done its work, and has found something.
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
    return fail(error);
  }
}

function fail(error: unknown): number {
  const failure = toCommandError(error);
  printStatus(`${paint("red", "error:", process.stderr)} ${failure.message}`);
  if (verbose) {
    const { stack } = (failure.cause ?? failure) as Error;
    printStatus(String(stack).split("\n").map(escapeControls).join("\n"));
  }
  return failure.exitCode;
}

/** Exits at once: pending calls of an interrupted command would keep the process alive. */
async function exit(exitCode: number): Promise<never> {
  await new Promise((resolve) => process.stdout.write("", resolve));
  process.exit(exitCode);
}
