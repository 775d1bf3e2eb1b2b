/** Runs one command line. A failure prints one line; the result is the exit code. */
import { Command, CommanderError } from "commander";
import { toCommandError, WRONG_USAGE } from "./commandError.ts";
import { escapeControls } from "./escape.ts";
import { paint, printStatus } from "./output.ts";
import { defineProgram } from "./program.ts";

/** @param args  the words after the program's name */
export async function run(args: readonly string[]): Promise<number> {
  // Set before commands are added: they inherit the settings.
  const program = defineProgram(new Command().exitOverride());
  try {
    await program.parseAsync(args, { from: "user" });
    // `doctor` has done its work, and has found something.
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_USAGE;
    return fail(error, isVerbose(args));
  }
}

/** Prints what has failed. @returns the exit code */
export function fail(error: unknown, verbose: boolean): number {
  const failure = toCommandError(error);
  printStatus(`${paint("red", "error:", process.stderr)} ${failure.message}`);
  if (verbose) {
    const { stack } = (failure.cause ?? failure) as Error;
    printStatus(String(stack).split("\n").map(escapeControls).join("\n"));
  }
  return failure.exitCode;
}

/** Whether errors are printed with their stack. */
export function isVerbose(args: readonly string[]): boolean {
  return args.includes("--verbose") || process.env.DEBUG !== undefined;
}
