/**
 * The options of the deployed functions. Not for an extension, whose options are in `extension.yaml`.
 *
 * Where a kit replaces an extension, `firebase ext:migrate` exports what the user had set for the extension's functions as variables,
 * and its template makes them global options. Tally's own options take precedence over these, so memory and instances are
 * taken from the variables here.
 */
import type { GlobalOptions, MemoryOption } from "firebase-functions/v2";
import { params } from "./parameters.ts";

/** What a function needs: listing 10,000 shards takes some 10 MB, and 20 events or tasks run at a time. */
const MEMORY: MemoryOption = "512MiB";
const MORE_MEMORY: readonly MemoryOption[] = ["1GiB", "2GiB", "4GiB", "8GiB", "16GiB", "32GiB"];

type Options = "region" | "memory" | "concurrency" | "serviceAccount" | "maxInstances";

/** An empty account and 0 instances mean the defaults. Read at deployment, when parameters have no values. */
export function functionOptions(): Required<Pick<GlobalOptions, Options>> {
  const { EXT_MIGRATED_SYSTEM_MEMORY: memory, EXT_MIGRATED_SYSTEM_MAXINSTANCES: instances } = process.env;
  return {
    region: params.location,
    memory: MORE_MEMORY.find((more) => more === memory) ?? MEMORY,
    // The platform's default of 80 at a time would not fit into the memory.
    concurrency: 20,
    serviceAccount: params.serviceAccount,
    maxInstances:
      Number(instances) > 0
        ? params.maxInstances.equals(0).thenElse(Number(instances), params.maxInstances)
        : params.maxInstances,
  };
}
