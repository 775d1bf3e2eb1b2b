/** The configuration of a deployment: what its parameters say, parsed and validated. */
import {
  assertSeparate,
  CounterError,
  DEFAULT_COLLECTION,
  isDocumentId,
  MARK_LIFETIME_SECONDS,
  MAX_SHARDS,
} from "../../../core/src/index.ts";
import { MAX_TASK_DELAY } from "../counter/cause.ts";
import type { Millis } from "../counter/time.ts";
import type { Edition } from "../counter/types.ts";
import type { Config } from "../features/config.ts";
import { NO_COUNTERS } from "../http/counterList.ts";
import { invalidParameter } from "./parameterValue.ts";

export const DAY: Millis = 86_400_000;

/** What a deployment has set: its configuration without the code of features, which the command line does not need. */
export type Settings = Omit<Config, "plans">;

export const EDITIONS = ["standard", "enterprise"] as const satisfies readonly Edition[];

/**
 * On Enterprise a shard takes so many writes per second at most before its counter grows: with the marks of these it stays below 1 KiB,
 * which is one write unit (`test/docs/markSizes.test.ts`).
 */
const ENTERPRISE_WRITES_PER_SHARD = 0.35;

/** The settings as they work on an edition. */
export function settingsOn(edition: Edition, settings: Settings): Settings {
  if (edition === "standard") return settings;
  return { ...settings, edition, writesPerShard: Math.min(settings.writesPerShard, ENTERPRISE_WRITES_PER_SHARD) };
}

/** The settings of a deployment that keeps every default. */
export const DEFAULT_SETTINGS: Settings = {
  edition: "standard",
  collection: DEFAULT_COLLECTION,
  minShards: 1,
  maxShards: MAX_SHARDS,
  writesPerShard: 1,
  shrinkCooldown: 600_000,
  minInterval: 1_000,
  maxInterval: 10_000,
  precision: 0.001,
  direct: true,
  counted: undefined,
  mirrors: [],
  adopted: false,
  visitors: "no",
  items: false,
  windowGroups: [],
  historyGroups: [],
  servedCounters: NO_COUNTERS,
  historyRetention: 30 * DAY,
  timeZone: "UTC",
  regions: undefined,
  exchangeInterval: 1_000,
};

/**
 * @param isEmulated  whether a cool-down may be shorter: in the Functions emulator, where tests wait for folds
 * @throws CounterError `counter/invalid-config`, naming the parameter, its value and what is accepted
 */
export function validConfig<Checked extends Settings>(config: Checked, isEmulated = false): Checked {
  if (!isDocumentId(config.collection)) {
    throw invalidParameter("COLLECTION", config.collection, "the id of one collection");
  }
  const inRange = (name: string, value: number, from: number, to: number, whole = false) => {
    if (!(value >= from && value <= to) || (whole && !Number.isInteger(value))) {
      throw invalidParameter(name, value, `a ${whole ? "whole number" : "number"} from ${from} to ${to}`);
    }
  };
  const shortestCooldown = isEmulated ? 1 : MARK_LIFETIME_SECONDS;
  inRange("MIN_SHARDS", config.minShards, 1, MAX_SHARDS, true);
  inRange("MAX_SHARDS", config.maxShards, config.minShards, MAX_SHARDS, true);
  inRange("WRITES_PER_SHARD", config.writesPerShard, 0.01, 1_000);
  inRange("SHRINK_COOLDOWN_SECONDS", config.shrinkCooldown / 1_000, shortestCooldown, 86_400);
  inRange("MIN_INTERVAL_SECONDS", config.minInterval / 1_000, 1, MAX_TASK_DELAY / 1_000);
  inRange("MAX_INTERVAL_SECONDS", config.maxInterval / 1_000, config.minInterval / 1_000, MAX_TASK_DELAY / 1_000);
  inRange("PRECISION", config.precision, 0, 1);
  inRange("EXCHANGE_SECONDS", config.exchangeInterval / 1_000, 1, MAX_TASK_DELAY / 1_000);
  inRange("HISTORY_DAYS", config.historyRetention / DAY, 1, 3_650, true);
  if (!isTimeZone(config.timeZone)) {
    throw invalidParameter("TIME_ZONE", config.timeZone, "a name such as Europe/Berlin");
  }
  // A path below COLLECTION would trigger the functions endlessly.
  const outside = (name: string, path: readonly string[]) => {
    if (path[0] !== config.collection) return;
    const value = JSON.stringify(path.join("/"));
    throw new CounterError("counter/invalid-config", `${name}: ${value} is below COLLECTION; name another path`);
  };
  if (config.counted) outside("COUNTED_COLLECTION", config.counted);
  for (const { document, isBridged } of config.mirrors) outside(isBridged ? "BRIDGE" : "MIRRORS", document.split("/"));
  assertSeparate(config.mirrors, "MIRRORS and BRIDGE");
  return config;
}

/** Not an offset such as +01:00, which older runtimes of clients do not know. */
function isTimeZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}
