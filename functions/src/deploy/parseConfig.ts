/** The parameters of a deployment, as they are entered, to the configuration: by the functions, and by the CLI's `doctor`. */
import { NO_COUNTED_COLLECTION, parseCountedCollection, parseMirrors } from "../../../core/src/index.ts";
import { DAY, DEFAULT_CONFIG, validConfig } from "../deploy/config.ts";
import type { Config } from "../features/config.ts";
import { FEATURE_PLANS } from "../features/plans.ts";
import { parseRegions } from "../features/regions/config.ts";

/** The values of the parameters of parameters.ts, by name. */
export type ParameterValues = Readonly<Record<string, string | number>>;

/** The topic of a deployment that counts no messages. An extension creates it, because its manifest must name one. */
export const NO_TOPIC = "none";

/** The defaults of the parameters that decide what is counted, and how, as they are entered. */
export const DEFAULT_PARAMETERS = {
  COLLECTION: DEFAULT_CONFIG.collection,
  DATABASE_ID: "(default)",
  LOCATION: "us-central1",
  MIN_SHARDS: String(DEFAULT_CONFIG.minShards),
  MAX_SHARDS: String(DEFAULT_CONFIG.maxShards),
  WRITES_PER_SHARD: String(DEFAULT_CONFIG.writesPerShard),
  SHRINK_COOLDOWN_SECONDS: String(DEFAULT_CONFIG.shrinkCooldown / 1_000),
  MIN_INTERVAL_SECONDS: String(DEFAULT_CONFIG.minInterval / 1_000),
  MAX_INTERVAL_SECONDS: String(DEFAULT_CONFIG.maxInterval / 1_000),
  PRECISION: String(DEFAULT_CONFIG.precision),
  COUNTED_COLLECTION: NO_COUNTED_COLLECTION,
  MIRRORS: "",
  BRIDGE: "",
  VISITORS: "no",
  ITEMS: "no",
  HISTORY_DAYS: String(DEFAULT_CONFIG.historyRetention / DAY),
  TIME_ZONE: DEFAULT_CONFIG.timeZone,
  REGIONS: "",
  EXCHANGE_SECONDS: String(DEFAULT_CONFIG.exchangeInterval / 1_000),
  INGEST_COUNTERS: "",
  INGEST_ORIGINS: "",
  INGEST_APP_CHECK: "no",
  INGEST_MAX_AMOUNT: "100",
  INGEST_AMOUNT_PER_SECOND: "50",
  INGEST_TOPIC: NO_TOPIC,
  EVENTS_TOPIC: "",
  EVENTS_COLLECTION: NO_COUNTED_COLLECTION,
  TOTALS_COUNTERS: "",
} as const satisfies ParameterValues;

/**
 * @param isEmulated  whether a cool-down may be shorter
 * @param project     the project of the functions
 * @throws CounterError `counter/invalid-config`, naming the parameter, its value and what is accepted
 */
export function parseConfig(values: ParameterValues, isEmulated = false, project?: string): Config {
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
      timeZone: text("TIME_ZONE"),
      regions: parseRegions(text("REGIONS"), text("DATABASE_ID"), project),
      exchangeInterval: number("EXCHANGE_SECONDS") * 1_000,
      plans: FEATURE_PLANS,
    },
    isEmulated,
  );
}
