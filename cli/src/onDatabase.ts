/** A command on a database: it opens the database and is loaded when it runs, because `--help` and wrong usage need neither. */
import type { Command } from "commander";
import type { CommandContext, GlobalOptions } from "./commandContext.ts";

/** With its options and its arguments. */
type DatabaseCommand = (context: CommandContext, options: never, ...args: never[]) => Promise<void>;

export function onDatabase(load: () => Promise<DatabaseCommand>) {
  return async (...all: unknown[]) => {
    const command = all.at(-1) as Command;
    const options = command.optsWithGlobals<GlobalOptions>();
    const [{ openContext }, run] = await Promise.all([import("./commandContext.ts"), load()]);
    await run(await openContext(options), options as never, ...(command.processedArgs as never[]));
  };
}
