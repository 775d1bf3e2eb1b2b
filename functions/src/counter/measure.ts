/**
 * Measures a counter at one instant: the sum of its shards, unless a feature counts something else. A few shards are
 * listed, which shows when each was written. More are summed by aggregation queries (`firestore/src/sum.ts`).
 */
import type { CollectionReference } from "firebase-admin/firestore";
import { logger } from "firebase-functions/logger";
import { SHARDS } from "../../../core/src/index.ts";
import { listShards, sumOfListed, sumShards } from "../../../firestore/src/index.ts";
import type { Backend } from "./backend.ts";
import { shardTotalOf } from "./direct.ts";
import { logError } from "./log.ts";
import type { Measurement } from "./measurement.ts";
import { shardSettingsOf } from "./shardSettings.ts";
import { MAX_LISTED_SHARDS } from "./shards.ts";
import { isListedFor, LONGEST_SUM } from "./slowSums.ts";
import type { Millis } from "./time.ts";
import { type CounterState, changedBy } from "./types.ts";

/**
 * Cost: of up to 3 shards, or more if a feature needs a list, 1 read each; of more, 2 reads per 1,000, or on Enterprise the bytes of all.
 * Without the index, and after a sum that was too slow, 1 read per shard. If a feature measures the counter, what its `measureInstead` costs.
 *
 * @returns a sum that is infinite or NaN as the last published sum, because 0 or the sum of some shards would be wrong
 */
export async function measureCounter(backend: Backend, state: CounterState): Promise<Measurement> {
  const { ref, published } = state;
  const measureInstead = insteadOf(backend, ref.id);
  if (measureInstead) return await measureInstead();
  const { mostListed } = shardSettingsOf(state, backend.config);
  const measured = await measureShards(ref.collection(SHARDS), published?.shardDocuments ?? 0, {
    mostListed,
    slowSince: published?.slowSince,
    now: backend.now(),
    byScan: backend.config.edition === "enterprise",
  });
  if (measured.overflows) logOverflowOnce(ref.id, measured.malformed);
  const sum: Measurement = measured.overflows ? { ...measured, total: shardTotalOf(published) } : measured;
  return changedBy(
    sum,
    backend.features.map((feature) => feature.correctSum?.(sum, state, backend.config)),
  );
}

/** How a feature measures the counter; `undefined` for one that sums its shards. */
function insteadOf({ features, firestore, config }: Backend, counterId: string) {
  const measures = features.map((feature) => feature.measureInstead?.(counterId, firestore, config));
  return measures.find((measure) => measure !== undefined);
}

export interface HowToMeasure {
  /** Up to how many shards are listed. */
  readonly mostListed?: number;
  /** When the last sum was given up as too slow. */
  readonly slowSince?: Millis | null | undefined;
  readonly now?: Millis;
  /** How long a sum may take before the shards are listed. */
  readonly longestSum?: Millis;
  /** Whether the database sums without an index, as Firestore's Enterprise edition does. */
  readonly byScan?: boolean;
}

/** @param documents  how many shards the last measurement found */
export async function measureShards(
  shards: CollectionReference,
  documents: number,
  {
    mostListed = MAX_LISTED_SHARDS,
    slowSince,
    now = Date.now(),
    longestSum = LONGEST_SUM,
    byScan = false,
  }: HowToMeasure = {},
): Promise<Measurement> {
  const listIfFew = async () => {
    const query = shards.select("count", "writes").limit(mostListed + 1);
    const listed = sumOfListed(await query.get());
    return listed.documents <= mostListed ? listed : undefined;
  };
  const few = documents <= mostListed ? await listIfFew() : undefined;
  if (few) return few;
  if (isListedFor(slowSince, now)) return { ...(await listShards(shards)), slowSince };
  const { withoutIndex, ...sum } = await sumShards(shards, { readOnly: true }, { longest: longestSum, byScan });
  if (withoutIndex) warnOnce(WARNINGS[withoutIndex]);
  if (withoutIndex === "slow") return { ...sum, slowSince: now };
  // A list tells whether any of them is silent.
  return (sum.documents <= mostListed && (await listIfFew())) || sum;
}

const overflowing = new Set<string>();

/** Logs once per instance and counter. */
function logOverflowOnce(counter: string, shards: readonly string[] = []): void {
  if (!overflowing.has(counter))
    logError("the sum of a counter is infinite, so its last total stays", { counter, shards });
  overflowing.add(counter);
}

const WARNINGS = {
  missing: "the index of shards is missing, so each measurement reads every shard: deploy firestore.indexes.json",
  incomplete:
    "some shards are not in the index, so each measurement reads every shard: give them the fields of docs/data-model.md",
  slow: "a sum took longer than five seconds, so the shards of its counter are listed for ten minutes, and its total may be ten seconds late",
} as const;

const warned = new Set<string>();

/** Logs a warning once per instance. A busy counter would repeat it every second. */
function warnOnce(message: string): void {
  if (!warned.has(message)) logger.warn(message);
  warned.add(message);
}
