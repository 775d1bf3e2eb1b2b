/** What `doctor` has read of some counters. Times are in milliseconds. */
import type { Millis } from "../../../functions/src/decisions.ts";

export interface CounterSample {
  readonly counters: readonly SampledCounter[];
  /** Whether these are all counters that have a shard. */
  readonly isComplete: boolean;
  /** Counters whose scheduled reconcile is long past, with the time it was due. A few at most. */
  readonly overdue: readonly { readonly id: string; readonly dueAt: Millis }[];
  /** What waits for a function to take it. A few of each kind at most. */
  readonly waiting: readonly Waiting[];
  /** The database's time when the sample was complete. */
  readonly now: Millis;
}

/** A document of `tallyVisitors`, of `tallyItemCounts`, or of `_counter_shards_`, the shards of Google's counter. */
export interface Waiting {
  readonly kind: "visitors" | "items" | "legacy-shards";
  /** The counter's id; of a legacy shard, the path of the document that it belongs to. */
  readonly owner: string;
  readonly createdAt: Millis;
  readonly updatedAt: Millis;
}

export interface SampledCounter {
  readonly id: string;
  /** `null` if no total was ever published. */
  readonly published: {
    readonly total: unknown;
    readonly asOf: Millis;
    readonly nextPollAt: Millis | null;
    readonly countedCollection: string | null;
    readonly malformedShards: readonly string[];
  } | null;
  /** Over how many shards old clients spread; `null` if its document has no `num_shards`. */
  readonly numShards: number | null;
  readonly hasSource: boolean;
  /** The part of the total that the mirror shows; `null` without a mirror. */
  readonly mirrored: number | null;
  /** The sum of the shards at one instant, and of the direct increments; `null` for a counter of a collection. */
  readonly sum: number | null;
  readonly documents: number;
  /** How many of them are in the index that sums the shards. */
  readonly indexed: number;
  /** The shards one by one, if there are few. */
  readonly shards: readonly SampledShard[] | null;
  readonly drift: Drift | null;
}

export interface SampledShard {
  readonly id: string;
  /** The fields as they are stored, of any type. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly updatedAt: Millis;
}

/** The comparison of a counter with its source. */
export type Drift = { readonly drift: number; readonly alarmBeyond: number } | { readonly error: string };
