/**
 * What `adopt` does to a counter that was made by hand: `counters/{id}` with `num_shards`, and shards with `count` alone. Old clients
 * update these shards, and go on doing so.
 */
import { BASE_SHARD, type DirectFields, isCount, parseNumShards } from "../../core/src/index.ts";
import { shardIndex } from "../../functions/src/decisions.ts";

/** A counter as it is stored. */
export interface StoredCounter {
  /** The fields of its document; empty if there is none. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Shard id → its fields. */
  readonly shards: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

export interface AdoptionPlan {
  /** Shards that old clients use, and that must exist. */
  readonly numShards: number;
  /** Whether the document gets `num_shards`: code that has the number built in does not store it. */
  readonly setsNumShards: boolean;
  /** Ids of shards that get `shard` and `writes`, for the index. */
  readonly completed: readonly string[];
  /** Ids of shards that are created, since an update of a missing one would be refused. */
  readonly created: readonly string[];
  /** Whether `base` is written, whose event makes the functions publish the total. */
  readonly publishes: boolean;
  readonly total: number;
}

const FIELDS = ["shard", "count", "writes", "at", "marks"];

/** @returns what is missing, or why the counter is left alone */
export function planAdoption({ fields, shards }: StoredCounter): AdoptionPlan | { readonly leftAlone: string } {
  const numShards = parseNumShards(fields.num_shards ?? largestIndex(shards) + 1);
  const reason = whyLeftAlone({ fields, shards }, numShards);
  if (reason !== undefined || numShards === undefined)
    return { leftAlone: reason ?? "has neither num_shards nor shards" };
  const { count: directCount = 0 } = (fields.direct ?? {}) as Partial<DirectFields<unknown>>;
  const total = [...shards.values()].reduce((sum, { count = 0 }) => sum + Number(count), directCount);
  const isUnpublished = fields.asOf === undefined;
  // Without a poll nothing else publishes what was written before a trigger was there.
  const isStale = (fields.nextPollAt ?? null) === null && fields.total !== total;
  const publishes = isUnpublished || isStale;
  const needed = Array.from({ length: numShards }, (_, index) => `${index}`);
  return {
    numShards,
    setsNumShards: fields.num_shards === undefined,
    completed: [...shards].flatMap(([id, stored]) =>
      isComplete(stored) || (publishes && id === BASE_SHARD) ? [] : [id],
    ),
    created: needed.filter((id) => !shards.has(id)),
    publishes,
    total,
  };
}

/**
 * `adopt --end` takes back what `adopt` did, and nothing else.
 *
 * @returns why a counter with `num_shards` is left alone; `undefined` if it is adopted, so that its adoption can end
 */
export function whyNotEnded(stored: StoredCounter): string | undefined {
  const plan = planAdoption(stored);
  if ("leftAlone" in plan) return plan.leftAlone;
  // Until then the mark says that the total is not today's.
  if (stored.fields.asOf === undefined) return "was never published: adopt it first";
  const shards = [...plan.created, ...plan.completed];
  return shards.length > 0 ? `is not adopted: shards/${shards[0]} is missing or incomplete; adopt it first` : undefined;
}

/** Documents that are written. */
export function writesOf({ setsNumShards, completed, created, publishes }: AdoptionPlan): number {
  return Number(setsNumShards) + completed.length + created.length + Number(publishes);
}

function isComplete(stored: Readonly<Record<string, unknown>>): boolean {
  return ["shard", "count", "writes"].every((field) => stored[field] !== undefined);
}

function largestIndex(shards: StoredCounter["shards"]): number {
  return Math.max(-1, ...[...shards.keys()].map((id) => shardIndex(id) ?? -1));
}

function whyLeftAlone({ fields, shards }: StoredCounter, numShards: number | undefined): string | undefined {
  const { num_shards: given, bounded, countedCollection } = fields;
  if (given !== undefined && numShards === undefined)
    return `num_shards is ${JSON.stringify(given)}: set it to a whole number from 1 to 10000`;
  if (bounded === true) return "is bounded: no old client may write it";
  if (typeof countedCollection === "string") return `counts the documents of ${countedCollection}, and no shards`;
  if (given === undefined && shards.size > 0 && [...shards.values()].every(isComplete))
    return "was not made by hand: it has no num_shards, and its shards are Tally's";
  for (const [id, stored] of shards) {
    const { shard = id, count, writes = 0 } = stored;
    if (id !== BASE_SHARD && shardIndex(id) === undefined)
      return `shards/${id} is no number from 0 to 9999: move its count to another shard`;
    if (!isCount(count)) return `the count of shards/${id} is no number: correct it`;
    const other = Object.keys(stored).find((field) => !FIELDS.includes(field));
    if (other !== undefined) return `shards/${id} has the field ${other}: remove it, or the rules refuse new clients`;
    if (shard !== id || !Number.isInteger(writes))
      return `shards/${id} uses the fields shard or writes for something else: remove these fields`;
  }
  return undefined;
}
