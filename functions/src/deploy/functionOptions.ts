/**
 * The options of the deployed functions. Not for an extension, whose options are in `extension.yaml`.
 *
 * Where a kit replaces an extension, `firebase ext:migrate` exports what the user had set for the extension's functions as variables,
 * and its template makes them global options. Tally's own options take precedence over these, so memory and instances are
 * taken from the variables here.
 */
import type { Expression } from "firebase-functions/params";
import type { GlobalOptions, MemoryOption } from "firebase-functions/v2";
import { textParam, wholeParam } from "./cliParams.ts";

/** What a function needs: listing 10,000 shards takes some 10 MB, and 20 events or tasks run at a time. */
const MEMORY: MemoryOption = "512MiB";
const MORE_MEMORY: readonly MemoryOption[] = ["1GiB", "2GiB", "4GiB", "8GiB", "16GiB", "32GiB"];

type Options = Required<Pick<GlobalOptions, "region" | "memory" | "concurrency" | "maxInstances">> &
  Pick<GlobalOptions, "serviceAccount">;

/**
 * Read at deployment, when the parameters have no values, and the environment has those of `.env`. 0 instances mean the platform's default.
 * An empty account must not be declared, not even as the parameter: the CLI would schedule the sweep for an empty account, and it creates
 * an account only for functions that declare none (discovery.ts).
 */
export function functionOptions(): Options {
  const { EXT_MIGRATED_SYSTEM_MEMORY: memory, EXT_MIGRATED_SYSTEM_MAXINSTANCES: most, SERVICE_ACCOUNT } = process.env;
  return {
    region: textParam("LOCATION"),
    memory: MORE_MEMORY.find((more) => more === memory) ?? MEMORY,
    // The platform's default of 80 at a time would not fit into the memory.
    concurrency: 20,
    ...(SERVICE_ACCOUNT && { serviceAccount: textParam("SERVICE_ACCOUNT") }),
    maxInstances: setOr(wholeParam("MAX_INSTANCES"), most),
  };
}

/** For the functions that each increment passes on its way to a total. Read at deployment. */
export function minInstances(): Expression<number> {
  return setOr(wholeParam("MIN_INSTANCES"), process.env.EXT_MIGRATED_SYSTEM_MININSTANCES);
}

/** The parameter; while it has its default, what the extension had. */
function setOr(parameter: ReturnType<typeof wholeParam>, migrated?: string): Expression<number> {
  const byDefault = parameter.equals(parameter.options.default as number);
  return Number(migrated) > 0 ? byDefault.thenElse(Number(migrated), parameter) : parameter;
}
