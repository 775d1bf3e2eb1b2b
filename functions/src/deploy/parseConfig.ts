/** The parameters of a deployment, as they are entered, to the configuration: by the functions, and by the CLI's `doctor`. */
import { NO_COUNTED_COLLECTION, parseCountedCollection, parseMirrors } from "../../../core/src/index.ts";
import { parseGroups } from "../features/groups.ts";
import { parseRegions, regionCount } from "../features/regions/config.ts";
import { intervalsOf } from "../features/regions/intervals.ts";
import { parseCounterList } from "../http/counterList.ts";
import { DAY, DEFAULT_SETTINGS, EDITIONS, type Settings, settingsOn, validConfig } from "./config.ts";
import { choiceOf } from "./parameterValue.ts";

/** The values of the parameters of parameters.ts, by name. */
export type ParameterValues = Readonly<Record<string, string | number>>;

/** The topic of a deployment that counts no messages. An extension creates it, because its manifest must name one. */
export const NO_TOPIC = "none";

/** The defaults of the parameters that decide what is counted, and how, as they are entered. */
export const DEFAULT_PARAMETERS = {
  LOCATION: "us-central1",
  DATABASE_ID: "(default)",
  EDITION: DEFAULT_SETTINGS.edition,
  COLLECTION: DEFAULT_SETTINGS.collection,
  MIN_INTERVAL_SECONDS: String(DEFAULT_SETTINGS.minInterval / 1_000),
  MAX_INTERVAL_SECONDS: String(DEFAULT_SETTINGS.maxInterval / 1_000),
  PRECISION: String(DEFAULT_SETTINGS.precision),
  DIRECT: "yes",
  MIN_SHARDS: String(DEFAULT_SETTINGS.minShards),
  MAX_SHARDS: String(DEFAULT_SETTINGS.maxShards),
  WRITES_PER_SHARD: String(DEFAULT_SETTINGS.writesPerShard),
  SHRINK_COOLDOWN_SECONDS: String(DEFAULT_SETTINGS.shrinkCooldown / 1_000),
  VISITORS: "no",
  COUNTED_COLLECTION: NO_COUNTED_COLLECTION,
  MIRRORS: "",
  WINDOWS: "",
  HISTORY: "",
  HISTORY_DAYS: String(DEFAULT_SETTINGS.historyRetention / DAY),
  TIME_ZONE: DEFAULT_SETTINGS.timeZone,
  REGIONS: "",
  EXCHANGE_SECONDS: String(DEFAULT_SETTINGS.exchangeInterval / 1_000),
  INGEST_COUNTERS: "",
  INGEST_ORIGINS: "",
  INGEST_APP_CHECK: "no",
  INGEST_MAX_AMOUNT: "100",
  INGEST_AMOUNT_PER_SECOND: "50",
  INGEST_TOPIC: NO_TOPIC,
  ITEMS: "no",
  EVENTS_TOPIC: "",
  EVENTS_COLLECTION: NO_COUNTED_COLLECTION,
  TOTALS_COUNTERS: "",
  ADOPTED: "no",
  BRIDGE: "",
} as const satisfies ParameterValues;

/** The same of the account and the instances, which no configuration has. The Extensions service sets these itself. */
export const INSTANCE_PARAMETERS = {
  SERVICE_ACCOUNT: "",
  MIN_INSTANCES: "0",
  MAX_INSTANCES: "10",
} as const satisfies ParameterValues;

/**
 * @param isEmulated  whether a cool-down may be shorter
 * @param project     the project of the functions
 * @throws CounterError `counter/invalid-config`, naming the parameter, its value and what is accepted
 */
export function parseConfig(values: ParameterValues, isEmulated = false, project?: string): Settings {
  const text = (name: string) => String(values[name]);
  const number = (name: string) => Number(values[name]);
  const edition = choiceOf("EDITION", text("EDITION"), EDITIONS);
  const valid = validConfig(
    {
      edition,
      collection: text("COLLECTION"),
      minShards: number("MIN_SHARDS"),
      maxShards: number("MAX_SHARDS"),
      writesPerShard: number("WRITES_PER_SHARD"),
      shrinkCooldown: number("SHRINK_COOLDOWN_SECONDS") * 1_000,
      minInterval: number("MIN_INTERVAL_SECONDS") * 1_000,
      maxInterval: number("MAX_INTERVAL_SECONDS") * 1_000,
      precision: number("PRECISION"),
      direct: choiceOf("DIRECT", text("DIRECT"), ["no", "yes"]) === "yes",
      counted: parseCountedCollection(text("COUNTED_COLLECTION")),
      mirrors: [...parseMirrors(text("MIRRORS"), "MIRRORS"), ...parseMirrors(text("BRIDGE"), "BRIDGE")],
      adopted: choiceOf("ADOPTED", text("ADOPTED"), ["no", "yes"]) === "yes",
      visitors: choiceOf("VISITORS", text("VISITORS"), ["no", "yes", "ingest"]),
      items: choiceOf("ITEMS", text("ITEMS"), ["no", "yes"]) === "yes",
      windowGroups: parseGroups(text("WINDOWS"), "WINDOWS"),
      historyGroups: parseGroups(text("HISTORY"), "HISTORY"),
      servedCounters: parseCounterList(text("TOTALS_COUNTERS"), "TOTALS_COUNTERS"),
      historyRetention: number("HISTORY_DAYS") * DAY,
      timeZone: text("TIME_ZONE"),
      regions: parseRegions(text("REGIONS"), text("DATABASE_ID"), project),
      exchangeInterval: number("EXCHANGE_SECONDS") * 1_000,
    },
    isEmulated,
  );
  return intervalsOf(settingsOn(edition, valid), regionCount(valid.regions));
}
