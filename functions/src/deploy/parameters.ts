/**
 * The parameters of a deployment: declared for the Firebase CLI, validated when they are first used. A test compares them with
 * `extension.yaml`, which declares all but {@link NOT_IN_EXTENSION}, in this order: the groups of docs/configuration.md.
 */
import { defineInt, defineString } from "firebase-functions/params";
import { MARK_LIFETIME_SECONDS, MAX_SHARDS, NO_COUNTED_COLLECTION } from "../../../core/src/index.ts";
import type { Config } from "../features/config.ts";
import { FEATURE_PLANS } from "../features/plans.ts";
import { type IngestConfig, parseIngestConfig } from "../ingest/config.ts";
import { packaging } from "./packaging.ts";
import {
  DEFAULT_PARAMETERS as DEFAULTS,
  INSTANCE_PARAMETERS,
  NO_TOPIC,
  type ParameterValues,
  parseConfig,
} from "./parseConfig.ts";

/** Checks of parameters that are strings, also of decimals: the Firebase CLI makes them when a value is entered. */
const writesPerShard = {
  text: {
    validationRegex: "^(0\\.(0[1-9]|[1-9])\\d*|[1-9]\\d{0,2}(\\.\\d+)?|1000(\\.0+)?)$",
    validationErrorMessage: "Enter a number from 0.01 to 1000, such as 0.25.",
  },
};

const precision = {
  text: {
    validationRegex: "^(0(\\.\\d+)?|1(\\.0+)?)$",
    validationErrorMessage: "Enter a number from 0 to 1, such as 0.001.",
  },
};

const location = {
  text: {
    validationRegex: "^[a-z]+-[a-z]+\\d+$",
    validationErrorMessage: "Enter a region, such as europe-west1, not eur3.",
  },
};

const serviceAccount = {
  text: {
    validationRegex: "^([^@\\s]+@[^@\\s]+\\.[^@\\s]+)?$",
    validationErrorMessage: "Enter the whole email of a service account, or nothing.",
  },
};

const yesOrNo = { text: { validationRegex: "^(yes|no)$", validationErrorMessage: "Enter yes or no." } };

const edition = {
  text: { validationRegex: "^(standard|enterprise)$", validationErrorMessage: "Enter standard or enterprise." },
};

const visitors = {
  text: { validationRegex: "^(no|yes|ingest)$", validationErrorMessage: "Enter no, yes or ingest." },
};

export const params = {
  // What most deployments set.
  location: defineString("LOCATION", {
    default: DEFAULTS.LOCATION,
    input: location,
    description: "The region the functions run in: choose the one nearest to the database.",
  }),
  database: defineString("DATABASE_ID", {
    default: DEFAULTS.DATABASE_ID,
    description: "The id of the Firestore database that holds the counters.",
  }),
  edition: defineString("EDITION", {
    default: DEFAULTS.EDITION,
    input: edition,
    description:
      "The edition of the database, standard or enterprise: Enterprise bills bytes, so shards are kept small.",
  }),
  collection: defineString("COLLECTION", {
    default: DEFAULTS.COLLECTION,
    description: "The top-level collection that holds the counters. Clients and rules must name the same.",
  }),
  // How fresh a total is.
  minIntervalSeconds: defineInt("MIN_INTERVAL_SECONDS", {
    default: Number(DEFAULTS.MIN_INTERVAL_SECONDS),
    description: "A total is never published more often than this.",
  }),
  maxIntervalSeconds: defineInt("MAX_INTERVAL_SECONDS", {
    default: Number(DEFAULTS.MAX_INTERVAL_SECONDS),
    description: "A counter that is being written is published at least this often.",
  }),
  precision: defineString("PRECISION", {
    default: DEFAULTS.PRECISION,
    input: precision,
    description: "The relative change of a total that is worth publishing: 0.001 is a tenth of a percent.",
  }),
  direct: defineString("DIRECT", {
    default: DEFAULTS.DIRECT,
    input: yesOrNo,
    description:
      "Whether clients add to the document of a counter that is not busy, which costs one write and wakes no function. no: each " +
      "increment goes to a shard, if needsFunctions of the rules returns true.",
  }),
  // How many shards a counter has.
  minShards: defineInt("MIN_SHARDS", {
    default: Number(DEFAULTS.MIN_SHARDS),
    description: "How many shards a counter starts with and shrinks back to.",
  }),
  maxShards: defineInt("MAX_SHARDS", {
    default: Number(DEFAULTS.MAX_SHARDS),
    description: `How many shards a counter may grow to, ${MAX_SHARDS} at most.`,
  }),
  writesPerShard: defineString("WRITES_PER_SHARD", {
    default: DEFAULTS.WRITES_PER_SHARD,
    input: writesPerShard,
    description: "How many writes per second one shard may take before the counter grows.",
  }),
  shrinkCooldownSeconds: defineInt("SHRINK_COOLDOWN_SECONDS", {
    default: Number(DEFAULTS.SHRINK_COOLDOWN_SECONDS),
    description:
      "How long the rate must have been low before the shard count shrinks (a counter without writes shrinks after a " +
      "minute), and how long a surplus shard must have been quiet before it is folded: at least " +
      `${MARK_LIFETIME_SECONDS}, the time in which a write may be sent again.`,
  }),
  // Visitors.
  visitors: defineString("VISITORS", {
    default: DEFAULTS.VISITORS,
    input: visitors,
    description:
      "Whether visitors are counted: how many different people, beside how often. ingest: also those of requests to " +
      "ingest. With them a script can inflate the number without bounds.",
  }),
  // Counting a collection, and mirrors.
  countedCollection: defineString("COUNTED_COLLECTION", {
    default: DEFAULTS.COUNTED_COLLECTION,
    description:
      "The path of a collection whose documents are counted, such as posts or posts/{post}/comments. " +
      `${NO_COUNTED_COLLECTION} counts nothing.`,
  }),
  mirrors: defineString("MIRRORS", {
    default: DEFAULTS.MIRRORS,
    description:
      "Fields of your own documents to which totals are also written, by group: likes=posts/{name}.likes writes the total " +
      "of likes:42 to the field likes of posts/42. Separate several with commas.",
  }),
  // Charts, and leaderboards of today.
  windows: defineString("WINDOWS", {
    default: DEFAULTS.WINDOWS,
    description:
      "The groups whose counters also have totals of today, this week and this month: names separated by commas, such as likes, " +
      "or * for all counters. Empty: none.",
  }),
  history: defineString("HISTORY", {
    default: DEFAULTS.HISTORY,
    description: "The groups whose past totals are kept, for charts: as in WINDOWS. Empty: none.",
  }),
  historyDays: defineInt("HISTORY_DAYS", {
    default: Number(DEFAULTS.HISTORY_DAYS),
    description: "How many days the past totals of each minute and hour are kept.",
  }),
  timeZone: defineString("TIME_ZONE", {
    default: DEFAULTS.TIME_ZONE,
    description:
      "The time zone in which a day begins, for the counts of today, this week and this month: a name such as " +
      "Europe/Berlin.",
  }),
  // Regions.
  regions: defineString("REGIONS", {
    default: DEFAULTS.REGIONS,
    description:
      "Where an app has one database per region: the regions that count the same counters, and their databases, such as " +
      "us=(default), eu=tally-eu. The one with DATABASE_ID is this deployment's own. Empty: one region alone.",
  }),
  exchangeSeconds: defineInt("EXCHANGE_SECONDS", {
    default: Number(DEFAULTS.EXCHANGE_SECONDS),
    description:
      "A total is never brought to the other regions more often than this, nor than every two seconds for each other region.",
  }),
  // Events, and totals by HTTP.
  ingestCounters: defineString("INGEST_COUNTERS", {
    default: DEFAULTS.INGEST_COUNTERS,
    description:
      "The counters that the function ingest may count, for anyone on the internet: ids; groups such as views:*, whose " +
      "counters must exist; and expressions such as /views:[a-z0-9-]{1,40}/, separated by commas. Empty: none.",
  }),
  ingestOrigins: defineString("INGEST_ORIGINS", {
    default: DEFAULTS.INGEST_ORIGINS,
    description:
      "The sites whose pages may use ingest: origins such as https://example.com, separated by commas, or * for any.",
  }),
  ingestAppCheck: defineString("INGEST_APP_CHECK", {
    default: DEFAULTS.INGEST_APP_CHECK,
    input: yesOrNo,
    description: "Whether requests to ingest must have a valid token of App Check.",
  }),
  ingestMaxAmount: defineInt("INGEST_MAX_AMOUNT", {
    default: Number(DEFAULTS.INGEST_MAX_AMOUNT),
    description: "The largest amount of one event that a request to ingest brings.",
  }),
  ingestAmountPerSecond: defineInt("INGEST_AMOUNT_PER_SECOND", {
    default: Number(DEFAULTS.INGEST_AMOUNT_PER_SECOND),
    description: "How much one address may add per second in each instance of ingest, on average over ten seconds.",
  }),
  ingestTopic: defineString("INGEST_TOPIC", {
    default: DEFAULTS.INGEST_TOPIC,
    description: `The Pub/Sub topic whose messages are counted, such as tally-events. ${NO_TOPIC} counts none.`,
  }),
  items: defineString("ITEMS", {
    default: DEFAULTS.ITEMS,
    input: yesOrNo,
    description: "Whether the most frequent items of events are found, such as the most played songs.",
  }),
  eventsTopic: defineString("EVENTS_TOPIC", {
    default: DEFAULTS.EVENTS_TOPIC,
    description:
      "The Pub/Sub topic to which a record of each event of ingest, and of each increment with `once` of EVENTS_COLLECTION, is published. " +
      "Create it first. Empty: none is.",
  }),
  eventsCollection: defineString("EVENTS_COLLECTION", {
    default: DEFAULTS.EVENTS_COLLECTION,
    description:
      "To publish likes and other increments with `once` to EVENTS_TOPIC as well, the value of COLLECTION. " +
      `${NO_COUNTED_COLLECTION} publishes none of them.`,
  }),
  totalsCounters: defineString("TOTALS_COUNTERS", {
    default: DEFAULTS.TOTALS_COUNTERS,
    description:
      "The counters whose totals the function totals shows to anyone on the internet, whatever the rules say: list only " +
      "those that the rules let every client read. Ids, groups such as views:*, and expressions such as " +
      "/views:[a-z0-9-]{1,40}/, separated by commas. Empty: none.",
  }),
  // Counters that apps have counted before.
  adopted: defineString("ADOPTED", {
    default: DEFAULTS.ADOPTED,
    input: yesOrNo,
    description:
      "Only while old apps still write counters that you have made by hand, with num_shards: yes counts each of their writes " +
      "at once. Every write of any shard then costs an invocation.",
  }),
  bridge: defineString("BRIDGE", {
    default: DEFAULTS.BRIDGE,
    description:
      "Only while you move from Google's counter extension: the fields that it counts, by group: views=pages/{name}.visits " +
      "counts what old apps add to the field visits of pages/home in views:home, and shows the total in the field.",
  }),
  // The account and the instances of the functions: not in the extension.
  serviceAccount: defineString("SERVICE_ACCOUNT", {
    default: INSTANCE_PARAMETERS.SERVICE_ACCOUNT,
    input: serviceAccount,
    description:
      "The account the functions run as: its email. Empty: the Firebase CLI creates one, with the roles that the functions need.",
  }),
  minInstances: defineInt("MIN_INSTANCES", {
    default: Number(INSTANCE_PARAMETERS.MIN_INSTANCES),
    description:
      "How many instances of each of the four functions between an increment and its total are kept running, " +
      "against cold starts. They cost also while nothing is counted.",
  }),
  // In some regions a new project has no quota for more: https://github.com/firebase/firebase-tools/pull/5867
  maxInstances: defineInt("MAX_INSTANCES", {
    default: Number(INSTANCE_PARAMETERS.MAX_INSTANCES),
    description: "How many instances each function may have at a time. 0: what the platform allows by default.",
  }),
};

/**
 * The Extensions service sets these itself: a service account with the roles in `extension.yaml`, and the numbers of instances. And an
 * extension would have the function of ADOPTED always, which costs an invocation for each write.
 */
export const NOT_IN_EXTENSION: readonly string[] = [
  params.adopted.name,
  params.serviceAccount.name,
  params.minInstances.name,
  params.maxInstances.name,
];

let deployed: Config | undefined;

/** Not to be called at import time, when parameters have no values. @throws CounterError `counter/invalid-config` */
export function deployedConfig(): Config {
  const { FUNCTIONS_EMULATOR, GCLOUD_PROJECT } = process.env;
  const settings = () => parseConfig(deployedValues(), FUNCTIONS_EMULATOR !== undefined, GCLOUD_PROJECT);
  deployed ??= { ...settings(), plans: FEATURE_PLANS };
  return deployed;
}

/** As {@link deployedConfig}. */
export function deployedIngestConfig(): IngestConfig {
  return parseIngestConfig(deployedValues());
}

function deployedValues(): ParameterValues {
  const missing = packaging() === "extension" ? NOT_IN_EXTENSION : [];
  const set = Object.values(params).filter(({ name }) => !missing.includes(name));
  return { ...DEFAULTS, ...Object.fromEntries(set.map((parameter) => [parameter.name, parameter.value()] as const)) };
}
