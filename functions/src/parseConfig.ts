/** The parameters of a deployment, as they are entered, to the configuration: by the functions, and by the CLI's `doctor`. */
import { parseCountedCollection, parseMirrors } from "../../core/src/index.ts";
import { type Config, DAY, validConfig } from "./config.ts";

/** The values of the parameters of parameters.ts, by name. */
export type ParameterValues = Readonly<Record<string, string | number>>;

/**
 * @param isEmulated  whether a cool-down may be shorter
 * @throws CounterError `counter/invalid-config`, naming the parameter, its value and what is accepted
 */
export function parseConfig(values: ParameterValues, isEmulated = false): Config {
  const text = (name: string) => String(values[name]);
  const number = (name: string) => Number(values[name]);
  return validConfig(
    {
      collection: text("COLLECTION"),
      minShards: number("MIN_SHARDS"),
      maxShards: number("MAX_SHARDS"),
      writesPerShard: number("WRITES_PER_SHARD"),
      shrinkCooldown: number("SHRINK_COOLDOWN_SECONDS") * 1_000,
      minInterval: number("MIN_INTERVAL_SECONDS") * 1_000,
      maxInterval: number("MAX_INTERVAL_SECONDS") * 1_000,
      precision: number("PRECISION"),
      counted: parseCountedCollection(text("COUNTED_COLLECTION")),
      mirrors: [...parseMirrors(text("MIRRORS"), "MIRRORS"), ...parseMirrors(text("BRIDGE"), "BRIDGE")],
      historyRetention: number("HISTORY_DAYS") * DAY,
    },
    isEmulated,
  );
}
