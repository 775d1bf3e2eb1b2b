#!/usr/bin/env node
/** `npx firestore-tally`: the process around a command, its warnings, its pipes and its end. */
import { fail, isVerbose, run } from "./run.ts";

const args = process.argv.slice(2);
const verbose = isVerbose(args);
// Hides the warnings of libraries, such as those about missing credentials.
if (!verbose) process.removeAllListeners("warning");
// The reader of a pipe, such as `head`, may close it early.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

// Libraries look for credentials in the background, and a failure surfaces only here.
process.on("unhandledRejection", (error) => void exit(fail(error, verbose)));
await exit(await run(args));

/** Exits at once: pending calls of an interrupted command would keep the process alive. */
async function exit(exitCode: number): Promise<never> {
  await new Promise((resolve) => process.stdout.write("", resolve));
  process.exit(exitCode);
}
