/**
 * The parameters of a deployment: declared for the Firebase CLI, validated when an instance starts. A test compares them with
 * `extension.yaml`, which declares all but {@link NOT_OF_EXTENSION}.
 */
import { defineInt, defineString } from "firebase-functions/params";
import {
  type CountedCollection,
  CounterError,
  DEFAULT_COLLECTION,
  isDocumentId,
  MARK_LIFETIME_SECONDS,
  MAX_SHARDS,
  NO_COUNTED_COLLECTION,
  parseCountedCollection,
} from "../../core/src/index.ts";
import { type Mirror, parseMirrors } from "./mirror.ts";
import { LONGEST_DELAY } from "./phase.ts";

/** Milliseconds: a duration, or since the epoch. */
export type Millis = number;

/** What the decisions of the backend depend on. Plain data. */
export interface Config {
  /** The collection that holds the counters. */
  readonly collection: string;
  /** Fewest shards a counter has. */
  readonly minShards: number;
  /** Most shards a counter may grow to. */
  readonly maxShards: number;
  /** Writes per second a shard may take before the counter grows. */
  readonly writesPerShard: number;
  /**
   * How long a counter must have been calm before it shrinks, and a surplus shard quiet before it is folded. A fold
   * deletes marks, so at least `MARK_LIFETIME_SECONDS`.
   */
  readonly shrinkCooldown: Millis;
  /** A total is never published more often than this. */
  readonly minInterval: Millis;
  /** A written counter is never published later than this. */
  readonly maxInterval: Millis;
  /** The relative change of the total worth publishing. */
  readonly precision: number;
  /** The collections whose documents are counted, if any. */
  readonly counted: CountedCollection | undefined;
  /** The documents that totals also land in. */
  readonly mirrors: readonly Mirror[];
  /** How long history is kept; 0, none is. */
  readonly historyRetention: Millis;
}

/** Parameters are strings or whole numbers; a decimal is a string that is checked where people enter it. */
const decimal = {
  text: { validationRegex: "^\\d+(\\.\\d+)?$", validationErrorMessage: "Enter a decimal number such as 0.25." },
};

export const params = {
  collection: defineString("COLLECTION", {
    default: DEFAULT_COLLECTION,
    description: "The top-level collection that holds the counters. Clients and rules must name the same.",
  }),
  database: defineString("DATABASE_ID", {
    default: "(default)",
    description: "The id of the Firestore database that holds the counters.",
  }),
  location: defineString("LOCATION", {
    default: "us-central1",
    description: "The region the functions run in: choose the one nearest to the database.",
  }),
  minShards: defineInt("MIN_SHARDS", {
    default: 1,
    description: "How many shards a counter starts with and shrinks back to.",
  }),
  maxShards: defineInt("MAX_SHARDS", {
    default: MAX_SHARDS,
    description: `How many shards a counter may grow to, ${MAX_SHARDS} at most.`,
  }),
  writesPerShard: defineString("WRITES_PER_SHARD", {
    default: "1",
    input: decimal,
    description: "How many writes per second one shard may take before the counter grows.",
  }),
  shrinkCooldownSeconds: defineInt("SHRINK_COOLDOWN_SECONDS", {
    default: 600,
    description:
      "How long a counter must have been calm before it shrinks and its surplus shards are folded: at least " +
      `${MARK_LIFETIME_SECONDS}, the time in which a write may be sent again.`,
  }),
  minIntervalSeconds: defineInt("MIN_INTERVAL_SECONDS", {
    default: 1,
    description: "A total is never published more often than this.",
  }),
  maxIntervalSeconds: defineInt("MAX_INTERVAL_SECONDS", {
    default: 10,
    description: "A counter that is being written is published at least this often.",
  }),
  precision: defineString("PRECISION", {
    default: "0.001",
    input: decimal,
    description: "The relative change of a total that is worth publishing: 0.001 is a tenth of a percent.",
  }),
  countedCollection: defineString("COUNTED_COLLECTION", {
    default: NO_COUNTED_COLLECTION,
    description:
      "The path of a collection whose documents are counted, such as posts or posts/{post}/comments. " +
      `${NO_COUNTED_COLLECTION}, a collection that nobody has, counts nothing.`,
  }),
  mirrors: defineString("MIRRORS", {
    default: "",
    description:
      "Fields of your own documents that totals also land in, by group: likes=posts/{key}.likes puts the total of " +
      "likes:42 into the field likes of posts/42. Put commas between several.",
  }),
  historyDays: defineInt("HISTORY_DAYS", {
    default: 30,
    description: "How many days the past totals of each minute and hour are kept, for charts. 0 keeps none.",
  }),
  serviceAccount: defineString("SERVICE_ACCOUNT", {
    default: "",
    description:
      "The account the functions run as: an email, or name@ for one of this project. Empty: the project's default one.",
  }),
  maxInstances: defineInt("MAX_INSTANCES", {
    default: 0,
    description: "How many instances each function may have at a time. 0: what the platform allows by default.",
  }),
};

/** The Extensions service sets these itself: a service account with the roles in `extension.yaml`, and the most instances. */
export const NOT_OF_EXTENSION: readonly string[] = [params.serviceAccount.name, params.maxInstances.name];

const DAY: Millis = 86_400_000;

let resolved: Config | undefined;

/**
 * The configuration of this deployment. Not at import time: parameters have no values then.
 *
 * @throws CounterError `counter/invalid-config`
 */
export function config(): Config {
  const isEmulated = process.env.FUNCTIONS_EMULATOR !== undefined;
  const parameters = (): Config => ({
    collection: params.collection.value(),
    minShards: params.minShards.value(),
    maxShards: params.maxShards.value(),
    writesPerShard: Number(params.writesPerShard.value()),
    shrinkCooldown: params.shrinkCooldownSeconds.value() * 1_000,
    minInterval: params.minIntervalSeconds.value() * 1_000,
    maxInterval: params.maxIntervalSeconds.value() * 1_000,
    precision: Number(params.precision.value()),
    counted: parseCountedCollection(params.countedCollection.value()),
    mirrors: parseMirrors(params.mirrors.value()),
    historyRetention: params.historyDays.value() * DAY,
  });
  resolved ??= validConfig(parameters(), isEmulated);
  return resolved;
}

/**
 * Checks a configuration as a whole.
 *
 * @param isEmulated  whether any cool-down will do: in the Functions emulator, where tests want to see shards folded
 * @throws CounterError `counter/invalid-config`, naming the parameter, its value and what it may be
 */
export function validConfig(config: Config, isEmulated = false): Config {
  if (!isDocumentId(config.collection)) {
    const value = JSON.stringify(config.collection);
    throw new CounterError("counter/invalid-config", `COLLECTION is ${value}; set it to the id of one collection`);
  }
  const inRange = (name: string, value: number, from: number, to: number, whole = false) => {
    if (!(value >= from && value <= to) || (whole && !Number.isInteger(value))) {
      const kind = whole ? "a whole number" : "a number";
      throw new CounterError("counter/invalid-config", `${name} is ${value}; set it to ${kind} from ${from} to ${to}`);
    }
  };
  const shortestCooldown = isEmulated ? 1 : MARK_LIFETIME_SECONDS;
  inRange("MIN_SHARDS", config.minShards, 1, MAX_SHARDS, true);
  inRange("MAX_SHARDS", config.maxShards, config.minShards, MAX_SHARDS, true);
  inRange("WRITES_PER_SHARD", config.writesPerShard, 0.01, 1_000);
  inRange("SHRINK_COOLDOWN_SECONDS", config.shrinkCooldown / 1_000, shortestCooldown, 86_400);
  inRange("MIN_INTERVAL_SECONDS", config.minInterval / 1_000, 1, LONGEST_DELAY / 1_000);
  inRange("MAX_INTERVAL_SECONDS", config.maxInterval / 1_000, config.minInterval / 1_000, LONGEST_DELAY / 1_000);
  inRange("PRECISION", config.precision, 0, 1);
  inRange("HISTORY_DAYS", config.historyRetention / DAY, 0, 3_650, true);
  // A path below COLLECTION would trigger the functions endlessly.
  const outside = (name: string, path: readonly string[]) => {
    if (path[0] !== config.collection) return;
    const value = JSON.stringify(path.join("/"));
    throw new CounterError("counter/invalid-config", `${name}: ${value} is below COLLECTION; name another path`);
  };
  if (config.counted) outside("COUNTED_COLLECTION", config.counted);
  for (const { document } of config.mirrors) outside("MIRRORS", document);
  return config;
}
