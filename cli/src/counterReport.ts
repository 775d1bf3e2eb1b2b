/**
 * The report on one counter, from the documents that `inspect` has read: whether the total is up to date, the state
 * of the shards, and warnings. Pure.
 */

import type { CounterWindowTotals } from "../../admin/src/index.ts";
import { differenceBeyondRounding } from "../../core/src/index.ts";
import type { ListedShard, sumOfListed } from "../../firestore/src/index.ts";
import { shardsBeyond } from "../../functions/src/decisions.ts";

/** The counter document. Times are ISO 8601. */
export interface PublishedReport {
  readonly total: number;
  /** `null` if the functions have published none: clients alone have written the document. */
  readonly asOf: string | null;
  readonly rate: number;
  readonly writes: number;
  readonly shardCount: number;
  readonly phase: string;
  readonly nextPollAt: string | null;
  readonly calmSince: string | null;
  /** Since when the shards are listed, because a sum took too long. */
  readonly slowSince: string | null;
  /** The collection whose documents the counter counts. */
  readonly countedCollection: string | null;
  /** What was counted today, this week and this month. */
  readonly windows: CounterWindowTotals;
}

/** The increments that clients have written to the counter document. */
export interface DirectReport {
  /** Whether clients may write it. */
  readonly open: boolean;
  readonly generation: number;
  /** Writes in this generation. */
  readonly marks: number;
  /** The part of the total. */
  readonly count: number;
  readonly writes: number;
}

/** The visitors that were counted until an instant. */
export interface VisitorsReport {
  readonly uniques: number;
  readonly asOf: string;
}

export interface ShardReport {
  readonly id: string;
  readonly count: number;
  readonly writes: number;
  readonly lastWrite: string;
}

export interface CounterReport {
  readonly id: string;
  /** `null` if there is no total. */
  readonly published: PublishedReport | null;
  /** `null` if neither clients nor the functions have opened the document. */
  readonly direct: DirectReport | null;
  readonly exact: { readonly total: number; readonly asOf: string };
  /** The exact total minus the published one; 0 if they differ by rounding alone. */
  readonly difference: number;
  /** The age of the published total at the instant of the exact sum. */
  readonly ageMillis: number | null;
  readonly shards: {
    readonly documents: number;
    /** Documents beyond the shard count. They are folded once they have been quiet. */
    readonly surplus: number;
    /** The shards with the most writes. */
    readonly busiest: readonly ShardReport[];
    /** Ids of the shards whose count is not a number. They are in no total. */
    readonly malformed: readonly string[];
  };
  readonly entries: number;
  /** `null` if no visitor was counted. */
  readonly visitors: VisitorsReport | null;
  /** The stored source of truth. */
  readonly source: unknown;
  readonly nextReconcileAt: string | null;
  readonly latestCorrection: Correction | null;
  readonly warnings: readonly string[];
  readonly reads: number;
}

export interface Correction {
  readonly by: number;
  readonly expected: number;
  readonly found: number;
  readonly at: string;
}

/** Times are ISO 8601. */
export interface CounterReading {
  readonly id: string;
  readonly published: PublishedReport | null;
  readonly direct: DirectReport | null;
  /** All shards, listed. */
  readonly measurement: ReturnType<typeof sumOfListed>;
  /** How many documents the collection has that the counter counts; `null` if it counts none. */
  readonly countedDocuments: number | null;
  readonly entries: number;
  readonly visitors: VisitorsReport | null;
  readonly source: unknown;
  readonly nextReconcileAt: string | null;
  readonly latestCorrection: Correction | null;
}

/** How many of the busiest shards are listed. */
const LISTED_SHARDS = 5;

/** A write that is not published after this long is a fault, unless `MAX_INTERVAL_SECONDS` is longer; its default is 10. */
const LATE_MS = 60_000;

export function reportOf(reading: CounterReading): CounterReport {
  const { id, published, direct, measurement, countedDocuments, entries } = reading;
  const { visitors, source, nextReconcileAt, latestCorrection } = reading;
  const { shards, malformed = [], documents } = measurement;
  const now = measurement.asOf.toMillis();
  const directCount = direct?.count ?? 0;
  const total = countedDocuments ?? measurement.total + directCount;
  const magnitude = shards.reduce((sum, { count }) => sum + Math.abs(count), Math.abs(directCount));
  const difference = differenceBeyondRounding(total, published?.total ?? 0, magnitude);
  const asOf = published?.asOf ?? null;
  const counted = asOf === null ? Number.NEGATIVE_INFINITY : Date.parse(asOf);
  return {
    id,
    published,
    direct,
    exact: { total, asOf: isoOf(measurement.asOf) },
    difference,
    ageMillis: asOf === null ? null : Math.max(now - counted, 0),
    shards: {
      documents,
      surplus: shardsBeyond(measurement, asOf === null ? Number.POSITIVE_INFINITY : (published?.shardCount ?? 1)),
      busiest: shards
        .toSorted((a, b) => b.writes - a.writes)
        .slice(0, LISTED_SHARDS)
        .map(({ id, count, writes, updatedAt }) => ({ id, count, writes, lastWrite: isoOf(updatedAt) })),
      malformed,
    },
    entries,
    visitors,
    source,
    nextReconcileAt,
    latestCorrection,
    // The shards of a counter of documents are in no total, so they do not tell why it differs.
    warnings: warningsOf(
      countedDocuments === null ? difference : 0,
      asOf,
      latestUncounted(shards, counted),
      malformed,
      now,
    ),
    // The counter document, the shards, one correction, the count of entries, and that of the documents.
    reads:
      2 +
      Math.max(documents, 1) +
      perThousand(entries) +
      (countedDocuments === null ? 0 : perThousand(countedDocuments)),
  };
}

/** The time of the latest write that is not published; `undefined` if every write is. */
function latestUncounted(shards: readonly ListedShard[], counted: number): number | undefined {
  const latest = Math.max(...shards.map(({ updatedAt }) => updatedAt.toMillis()));
  return latest > counted ? latest : undefined;
}

function warningsOf(
  difference: number,
  asOf: string | null,
  latest: number | undefined,
  malformed: readonly string[],
  now: number,
): string[] {
  const warnings: string[] = [];
  if (difference !== 0 && latest !== undefined && now - latest > LATE_MS) {
    warnings.push(
      asOf !== null
        ? "the functions have not published the latest writes: look at their log"
        : "no total was ever published: check that the functions are deployed for this database and collection",
    );
  }
  if (difference !== 0 && latest === undefined) {
    warnings.push(
      "a shard was deleted by hand, or the total was changed by hand: `npx firestore-tally publish` publishes the sum",
    );
  }
  if (malformed.length > 0) warnings.push("shards whose count is not a number are in no total: set it to a number");
  return warnings;
}

/** What a `count()` costs (https://firebase.google.com/docs/firestore/pricing#aggregation_queries). */
function perThousand(documents: number): number {
  return Math.max(Math.ceil(documents / 1_000), 1);
}

export function isoOf(instant: { toDate(): Date }): string {
  return instant.toDate().toISOString();
}
