/** The field `num_shards` of counters that were made by hand, after the recipe of Firebase's documentation. */
import { MAX_SHARDS } from "./layout.ts";

/** @returns over how many shards an old client spreads; `undefined` if the document is none that it can use */
export function parseNumShards(value: unknown): number | undefined {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_SHARDS ? Number(value) : undefined;
}
