/**
 * Adopted counters: counters that were made by hand, after the recipe of Firebase's documentation, and whose old clients still write. The
 * mark is the recipe's own field `num_shards`. An old client draws one of so many shards and adds 1 to its `count`, and to nothing else.
 *
 * - An old client updates a shard, which fails if there is none. So folds leave those shards, whatever the parameter ADOPTED is.
 * - With ADOPTED, updates of all shards trigger. So the counter may be idle with those shards, and new clients use them, too.
 * - `writes` of the shards does not tell how often old clients have written. What `count` has gained beyond it does.
 * - What was counted before the first publish is in no window: it may be years old.
 */
import { shardTotalOf } from "../../counter/direct.ts";
import type { Measurement } from "../../counter/measurement.ts";
import { toMillis } from "../../counter/time.ts";
import type { CounterSettings, CounterState } from "../../counter/types.ts";
import type { FeaturePlan } from "../../shared/feature.ts";
import { YES_OR_NO } from "../../shared/parameters.ts";

declare module "../../counter/types.ts" {
  interface FeatureSettings {
    /** Whether updates of all shards trigger. */
    readonly adopted: boolean;
  }
  interface FeatureFields {
    readonly adopted: {
      /** How many writes of old clients `writes` has, as far as is known. */
      readonly oldWrites: number;
    };
  }
  interface FeatureStates {
    readonly adopted: {
      /** Over how many shards old clients spread; `undefined` if there are no old clients. */
      readonly numShards: number | undefined;
    };
  }
}

declare module "../../counter/measurement.ts" {
  interface Measurement {
    readonly oldWrites?: number;
  }
}

export const adoptedPlan = {
  name: "adopted",
  tableRows: { "[counters made by hand](adopting.md)": "ADOPTED" },
  parameters: {
    ADOPTED: {
      default: "no",
      choices: YES_OR_NO,
      isNotInExtension: true,
      label: "Counters made by hand",
      description:
        "Only while old apps still write counters that you have made by hand, with num_shards: yes counts each of their writes " +
        "at once. Every write of any shard then costs an invocation.",
      accepted: "`no`, `yes`",
    },
  },
  settings: (values) => ({ adopted: values.isYes("ADOPTED") }),
  functions: {
    shardupdated: {
      does: "Brings the total of a counter up to date after old clients have written one of its shards again.",
      without: "what old apps add to counters with num_shards is published late",
      askedForBy: "ADOPTED",
      // It would always be there, and cost an invocation for each write.
      isNotInExtension: true,
      trigger: { on: "updated", root: "COLLECTION", path: "{counterId}/shards/{shardId}" },
    },
  },
  shardSettings({ adopted: { numShards } = { numShards: undefined } }, { minShards, adopted: doesTrigger }) {
    if (numShards === undefined) return {};
    const kept = { keptShards: numShards };
    return doesTrigger ? { ...kept, triggerShards: numShards, minShards: Math.max(minShards, numShards) } : kept;
  },
  needsPublishes: ({ adopted }) => adopted?.numShards !== undefined,
  correctSum: withOldWrites,
  fieldsAfter: ({ previous, measurement: { oldWrites } }) => ({
    oldWrites: oldWrites ?? previous?.adopted?.oldWrites ?? 0,
  }),
} satisfies FeaturePlan<"adopted">;

/**
 * What the writes of old clients correct in a sum of the shards. Each is taken to add 1, as the recipe's rules demand, so that larger
 * increments of others seem to be several writes. But one shard takes a write a second, so no more are assumed: more shards would not help
 * old clients.
 */
export function withOldWrites(
  { total, writes, asOf }: Measurement,
  { published, adopted, adjusted = 0 }: Pick<CounterState, "published" | "adopted" | "adjusted">,
  { writesPerShard, minInterval, maxInterval }: Pick<CounterSettings, "writesPerShard" | "minInterval" | "maxInterval">,
): Partial<Measurement> {
  const numShards = adopted?.numShards;
  if (!published) return numShards === undefined ? {} : { imported: total - adjusted };
  const oldWrites = published.adopted?.oldWrites ?? 0;
  const marked = Math.max(writes - (published.writes - oldWrites), 0);
  const gained = published.collectionCount ? 0 : Math.abs(total - shardTotalOf(published) - adjusted);
  // Of an idle counter they came just now, of others since the last poll.
  const duration = Math.min(Math.max(toMillis(asOf) - published.asOf, minInterval), maxInterval);
  const most = ((numShards ?? 0) * writesPerShard * duration) / 1_000;
  const all = oldWrites + Math.ceil(Math.min(Math.max(gained - marked, 0), most));
  return all === 0 ? {} : { oldWrites: all, writes: writes + all };
}
