/** The plan of the counter itself, in the form of a feature's plan. */
import { DEFAULT_COLLECTION, isDocumentId, MARK_LIFETIME_SECONDS, MAX_SHARDS } from "../../../core/src/index.ts";
import { MAX_TASK_DELAY } from "../counter/cause.ts";
import type { Edition } from "../counter/types.ts";
import type { FeaturePlan, FunctionPlan, Settings } from "../shared/feature.ts";
import { invalidParameter, type Parameters, YES_OR_NO } from "../shared/parameters.ts";
import { REGION_PATTERN } from "./regions.ts";

export const EDITIONS = ["standard", "enterprise"] as const satisfies readonly Edition[];

/**
 * The most writes per second that a shard takes on Enterprise before its counter grows. With the marks of this rate a shard stays below 1 KiB,
 * one write unit (`test/docs/markSizes.test.ts`).
 */
const ENTERPRISE_WRITES_PER_SHARD = 0.35;

/** The settings as they work on an edition. */
export function settingsOn(edition: Edition, settings: Settings): Settings {
  return { ...settings, edition, writesPerShard: writesPerShardOn(edition, settings.writesPerShard) };
}

function writesPerShardOn(edition: Edition, writesPerShard: number): number {
  return edition === "standard" ? writesPerShard : Math.min(writesPerShard, ENTERPRISE_WRITES_PER_SHARD);
}

const SECONDS = [1, MAX_TASK_DELAY / 1_000] as const;

/** Where the functions and the counters are. */
const PLACE: Parameters = {
  LOCATION: {
    default: "us-central1",
    label: "Location of the functions",
    description: "The region the functions run in: choose the one nearest to the database.",
    accepted: "a region of Cloud Functions",
    setIf: "always: the nearest to the database",
    pattern: REGION_PATTERN,
    invalid: "Enter a region, such as europe-west1, not eur3.",
  },
  DATABASE_ID: {
    default: "(default)",
    label: "Firestore database",
    description: "The id of the Firestore database that holds the counters.",
    accepted: "the id of an existing database: one per deployment",
    setIf: "counters are in a named database",
  },
  EDITION: {
    default: "standard",
    choices: EDITIONS,
    label: "Edition of the database",
    description:
      "The edition of the database, standard or enterprise: Enterprise bills bytes, so shards are kept small.",
    accepted: "`standard` or `enterprise`",
    setIf: "the database is Enterprise",
  },
  COLLECTION: {
    default: DEFAULT_COLLECTION,
    label: "Collection of the counters",
    description: "The top-level collection that holds the counters. Clients and rules must name the same.",
    accepted: "the id of a top-level collection: no `/`, at most 1,500 bytes, not `__…__`",
    setIf: "your app has a collection `counters`",
    pattern: "^[^/]+$",
    invalid: "Enter the id of one top-level collection, without a slash.",
  },
};

/** How fresh a total is. */
const FRESHNESS: Parameters = {
  MIN_INTERVAL_SECONDS: {
    default: "1",
    range: SECONDS,
    label: "Shortest publish interval (seconds)",
    description: "A total is never published more often than this.",
    accepted: "from 1 to 3,000",
    setIf: "many clients watch busy counters: higher is cheaper",
  },
  MAX_INTERVAL_SECONDS: {
    default: "10",
    range: SECONDS,
    label: "Longest publish interval (seconds)",
    description: "A counter that is being written is published at least this often.",
    accepted: "from `MIN_INTERVAL_SECONDS` to 3,000",
    setIf: "you show large totals: lower is fresher, higher cheaper",
  },
  PRECISION: {
    default: "0.001",
    range: [0, 1],
    label: "Precision",
    description: "The relative change of a total that is worth publishing: 0.001 is a tenth of a percent.",
    accepted: "from 0 to 1, with decimals",
    setIf: "you show every digit: 0; rounded numbers: 0.01",
    pattern: "^(0(\\.\\d+)?|1(\\.0+)?)$",
    invalid: "Enter a number from 0 to 1, such as 0.001.",
  },
  DIRECT: {
    default: "yes",
    choices: YES_OR_NO,
    label: "Increments in the counter document",
    description:
      "Whether clients add to the document of a counter that is not busy, which costs one write and wakes no function. no: each " +
      "increment goes to a shard, if needsFunctions of the rules returns true.",
    accepted: "yes, no",
    setIf: "you want each increment to run the functions: no",
  },
};

/** How many shards a counter has. */
const SHARDS: Parameters = {
  MIN_SHARDS: {
    default: "1",
    range: [1, MAX_SHARDS],
    label: "Fewest shards",
    description: "How many shards a counter starts with and shrinks back to.",
    accepted: "from 1 to 10,000",
  },
  MAX_SHARDS: {
    default: String(MAX_SHARDS),
    range: [1, MAX_SHARDS],
    label: "Most shards",
    description: `How many shards a counter may grow to, ${MAX_SHARDS} at most.`,
    accepted: "from `MIN_SHARDS` to 10,000",
  },
  WRITES_PER_SHARD: {
    default: "1",
    range: [0.01, 1_000],
    label: "Writes per second and shard",
    description: "How many writes per second one shard may take before the counter grows.",
    accepted: "from 0.01 to 1,000 writes per second",
    pattern: "^(0\\.(0[1-9]|[1-9])\\d*|[1-9]\\d{0,2}(\\.\\d+)?|1000(\\.0+)?)$",
    invalid: "Enter a number from 0.01 to 1000, such as 0.25.",
  },
  SHRINK_COOLDOWN_SECONDS: {
    default: "600",
    range: [MARK_LIFETIME_SECONDS, 86_400],
    label: "Shrink cool-down (seconds)",
    description:
      "How long the rate must have been low before the shard count shrinks (a counter without writes shrinks after a " +
      "minute), and how long a surplus shard must have been quiet before it is folded: at least " +
      `${MARK_LIFETIME_SECONDS}, the time in which a write may be sent again.`,
    accepted: "from 120 to 86,400; in the emulator from 1",
  },
};

function shardTrigger(on: "created" | "updated", shardId: string): Pick<FunctionPlan, "trigger" | "hasMinInstances"> {
  return { trigger: { on, root: "COLLECTION", path: `{counterId}/shards/${shardId}` }, hasMinInstances: true };
}

export const counterPlan = {
  name: "counter",
  parameters: { ...PLACE, ...FRESHNESS, ...SHARDS },
  settings(values) {
    const collection = values.text("COLLECTION");
    if (!isDocumentId(collection)) throw invalidParameter("COLLECTION", collection, "the id of one collection");
    const edition = values.choice("EDITION", EDITIONS);
    const minShards = values.number("MIN_SHARDS");
    const minSeconds = values.number("MIN_INTERVAL_SECONDS");
    // In the emulator, tests wait for folds.
    const shortestCooldown = values.isEmulated ? 1 : MARK_LIFETIME_SECONDS;
    return {
      edition,
      collection,
      minShards,
      maxShards: values.number("MAX_SHARDS", minShards),
      writesPerShard: writesPerShardOn(edition, values.number("WRITES_PER_SHARD")),
      shrinkCooldown: values.number("SHRINK_COOLDOWN_SECONDS", shortestCooldown) * 1_000,
      minInterval: minSeconds * 1_000,
      maxInterval: values.number("MAX_INTERVAL_SECONDS", minSeconds) * 1_000,
      precision: values.number("PRECISION"),
      direct: values.isYes("DIRECT"),
    };
  },
  groupsThatNeedPublishes: ({ direct }) => (direct ? [] : "all"),
  functions: {
    shardcreated: {
      ...shardTrigger("created", "{shardId}"),
      does: "Brings the total of a counter up to date after one of its shards was created.",
      without: "new shards are noticed late or never",
    },
    shardzeroupdated: {
      ...shardTrigger("updated", "0"),
      does: "Brings the total of a counter up to date after its first shard was written again.",
      without: "totals of quiet counters stop",
    },
    baseupdated: {
      ...shardTrigger("updated", "base"),
      does: "Brings the total of a counter up to date after a server has corrected it.",
      without: "resets and increments of servers are published late",
    },
    aggregate: {
      does: "Publishes the total of a busy counter when it is due.",
      without: "totals of busy counters stop",
      trigger: { on: "task", kinds: ["poll", "followUp"] },
      hasMinInstances: true,
    },
    sweep: {
      does: "Measures counters whose scheduled measurement was lost, and reconciles counters that are due.",
      without: "a measurement that was lost is never repeated, and nothing is reconciled",
      trigger: { on: "schedule", every: "5 minutes" },
    },
  },
} satisfies FeaturePlan<"counter">;
