/**
 * What there is to say about one counter, from what was read of it: whether its total is up to date, how its shards are,
 * and what somebody should look at. Pure; `inspect` reads, and prints it.
 */

import type { ListedShard, sumOfListed } from "../../admin/src/sum.ts";
import { shardsBeyond } from "../../functions/src/shards.ts";

/** The counter document, as far as it can be trusted. Times are ISO 8601. */
export interface PublishedReport {
  readonly total: number;
  readonly asOf: string;
  readonly rate: number;
  readonly writes: number;
  readonly shardCount: number;
  readonly phase: string;
  readonly nextPollAt: string | null;
  readonly calmSince: string | null;
}

export interface ShardReport {
  readonly id: string;
  readonly count: number;
  readonly writes: number;
  readonly lastWrite: string;
}

export interface Inspection {
  readonly id: string;
  /** `null` if no total was ever published. */
  readonly published: PublishedReport | null;
  readonly exact: { readonly total: number; readonly asOf: string };
  /** How much the exact sum is ahead of the published total. */
  readonly difference: number;
  /** How old the published total is, at the instant of the exact sum. */
  readonly ageMillis: number | null;
  readonly shards: {
    readonly documents: number;
    /** Documents beyond the shard count, to be folded when they have been quiet. */
    readonly surplus: number;
    /** Those with the most writes. */
    readonly busiest: readonly ShardReport[];
    /** Ids of those whose count is no number: not in any total. */
    readonly malformed: readonly string[];
  };
  readonly entries: number;
  /** The source of truth it is reconciled with, as it is stored. */
  readonly source: unknown;
  readonly nextReconcileAt: string | null;
  readonly latestCorrection: Correction | null;
  /** What somebody should look at. */
  readonly warnings: readonly string[];
  readonly reads: number;
}

export interface Correction {
  readonly by: number;
  readonly expected: number;
  readonly found: number;
  readonly at: string;
}

/** What was read, with times in ISO 8601, and what that cost. */
export interface Findings {
  readonly id: string;
  readonly published: PublishedReport | null;
  /** All shards, listed. */
  readonly measurement: ReturnType<typeof sumOfListed>;
  readonly entries: number;
  readonly source: unknown;
  readonly nextReconcileAt: string | null;
  readonly latestCorrection: Correction | null;
}

/** How many of the shards are named. */
const BUSIEST = 5;

/** A written counter is published within `MAX_INTERVAL_SECONDS`, 10 by default. After so long something is wrong. */
const LATE_MS = 60_000;

export function inspectionOf(findings: Findings): Inspection {
  const { id, published, measurement, entries, source, nextReconcileAt, latestCorrection } = findings;
  const { shards, malformed = [], documents } = measurement;
  const now = measurement.asOf.toMillis();
  const difference = measurement.total - (published?.total ?? 0);
  const counted = published ? Date.parse(published.asOf) : Number.NEGATIVE_INFINITY;
  return {
    id,
    published,
    exact: { total: measurement.total, asOf: isoOf(measurement.asOf) },
    difference,
    ageMillis: published ? Math.max(now - counted, 0) : null,
    shards: {
      documents,
      surplus: shardsBeyond(measurement, published?.shardCount ?? Number.POSITIVE_INFINITY),
      busiest: shards
        .toSorted((a, b) => b.writes - a.writes)
        .slice(0, BUSIEST)
        .map(({ id, count, writes, updatedAt }) => ({ id, count, writes, lastWrite: isoOf(updatedAt) })),
      malformed,
    },
    entries,
    source,
    nextReconcileAt,
    latestCorrection,
    warnings: warningsOf(difference, published, uncounted(shards, counted), malformed, now),
    // The counter document, the shards, one correction, and the count of entries.
    reads: 2 + Math.max(documents, 1) + perThousand(entries),
  };
}

/** When the latest write came that no publish has counted; `undefined` if all are. */
function uncounted(shards: readonly ListedShard[], counted: number): number | undefined {
  const latest = Math.max(...shards.map(({ updatedAt }) => updatedAt.toMillis()));
  return latest > counted ? latest : undefined;
}

function warningsOf(
  difference: number,
  published: PublishedReport | null,
  latest: number | undefined,
  malformed: readonly string[],
  now: number,
): string[] {
  const warnings: string[] = [];
  if (difference !== 0 && latest !== undefined && now - latest > LATE_MS) {
    warnings.push(
      published
        ? "the functions have not counted the latest writes: look at their log"
        : "no total was ever published: are the functions deployed, for this database and collection?",
    );
  }
  if (difference !== 0 && latest === undefined) {
    warnings.push("a shard was deleted by hand, or the total written: only the next increment publishes a new one");
  }
  if (malformed.length > 0) warnings.push("shards whose count is no number are in no total: correct or delete them");
  return warnings;
}

/** What a `count()` costs (https://firebase.google.com/docs/firestore/pricing#aggregation_queries). */
function perThousand(documents: number): number {
  return Math.max(Math.ceil(documents / 1_000), 1);
}

export function isoOf(instant: { toDate(): Date }): string {
  return instant.toDate().toISOString();
}
