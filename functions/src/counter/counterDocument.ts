/**
 * The counter document: what it holds, how it is parsed and serialized. Each field is checked, because a server may have
 * created or damaged the document.
 */
import type { DocumentReference, DocumentSnapshot, Timestamp } from "firebase-admin/firestore";
import { type CounterDocument, groupOf, type Reservation } from "../../../core/src/index.ts";
import { MAX_TASK_DELAY } from "./cause.ts";
import { parseDirect } from "./directField.ts";
import { finite, millis, toTimestamp } from "./fields.ts";
import type { CollectionCount } from "./measurement.ts";
import { PHASES } from "./phase.ts";
import type { Millis } from "./time.ts";
import {
  byName,
  type CorePublished,
  type CounterState,
  type FeatureFields,
  type FeatureStates,
  type Published,
  type PublishHooks,
  type Reserved,
} from "./types.ts";

/** Cost: 1 read. */
export async function readCounter(ref: DocumentReference, features: readonly PublishHooks[]): Promise<CounterState> {
  return parseCounter(await ref.get(), features);
}

/**
 * Parses a counter document. Without a valid `asOf` it was never published: then only the fields that servers and other regions
 * write are parsed.
 */
export function parseCounter(snapshot: DocumentSnapshot, features: readonly PublishHooks[]): CounterState {
  const { ref, updateTime } = snapshot;
  const adjusted = snapshot.get("adjusted");
  const direct = parseDirect(snapshot);
  return {
    ...byName<FeatureStates>(features.map((feature) => [feature.name, feature.parseState?.(snapshot)])),
    ref,
    updateTime,
    published: parsePublished(snapshot, direct?.count ?? 0, features),
    reservation: parseReservation(snapshot.get("reservation")),
    adjusted: adjusted === undefined ? undefined : finite(adjusted),
    direct,
  };
}

function parsePublished(
  snapshot: DocumentSnapshot,
  directCount: number,
  features: readonly PublishHooks[],
): Published | undefined {
  const asOf = millis(snapshot.get("asOf"));
  if (asOf === null) return undefined;
  const number = (field: keyof CorePublished, minimum: number) => {
    const value = snapshot.get(field);
    return Number.isFinite(value) && value >= minimum ? value : Math.max(minimum, 0);
  };
  const malformed = snapshot.get("malformedShards");
  const phase = snapshot.get("phase");
  const nextPollAt = validPollTime(millis(snapshot.get("nextPollAt")), asOf);
  const collectionCount = parseCounted(snapshot);
  return {
    ...byName<FeatureFields>(features.map((feature) => [feature.name, feature.parse?.(snapshot)])),
    total: number("total", Number.NEGATIVE_INFINITY),
    directCount: collectionCount ? 0 : directCount,
    shardCount: number("shardCount", 1),
    growing: snapshot.get("growing") === true,
    writes: number("writes", 0),
    rate: number("rate", 0),
    amountRate: number("amountRate", 0),
    publishes: number("publishes", 0),
    asOf,
    ...(PHASES.includes(phase) && phase !== "idle" && nextPollAt !== null
      ? { phase, nextPollAt }
      : { phase: "idle", nextPollAt: null }),
    calmSince: millis(snapshot.get("calmSince")),
    unusedSince: millis(snapshot.get("unusedSince")),
    shardDocuments: number("shardDocuments", 0),
    slowSince: millis(snapshot.get("slowSince")),
    malformedShards: Array.isArray(malformed) ? malformed : [],
    collectionCount,
  };
}

function parseCounted(snapshot: DocumentSnapshot): CollectionCount | null {
  const path = snapshot.get("countedCollection");
  const reads = Math.max(finite(snapshot.get("countReads")), 0);
  return typeof path === "string" ? { path, reads } : null;
}

/** Drops an instant that no publish can have scheduled. Otherwise writes would wait for it. */
function validPollTime(nextPollAt: Millis | null, asOf: Millis): Millis | null {
  return nextPollAt !== null && nextPollAt > asOf && nextPollAt <= asOf + MAX_TASK_DELAY + 1 ? nextPollAt : null;
}

function parseReservation(value: unknown): Reserved | undefined {
  const { shards, until } = (value ?? {}) as Partial<Reservation<Timestamp>>;
  const end = millis(until);
  return Number.isFinite(shards) && end !== null ? { shards: shards as number, until: end } : undefined;
}

/** The fields of the core that a publish writes. `asOf` is stored as it was measured, to the last digit. */
export function serializeCounter(counterId: string, published: CorePublished, asOf: Timestamp) {
  return {
    total: published.total,
    shardCount: published.shardCount,
    growing: published.growing,
    writes: published.writes,
    rate: published.rate,
    amountRate: published.amountRate,
    publishes: published.publishes,
    phase: published.phase,
    shardDocuments: published.shardDocuments,
    malformedShards: published.malformedShards,
    countedCollection: published.collectionCount?.path ?? null,
    countReads: published.collectionCount?.reads ?? 0,
    asOf,
    group: groupOf(counterId),
    nextPollAt: published.nextPollAt === null ? null : toTimestamp(published.nextPollAt),
    calmSince: published.calmSince === null ? null : toTimestamp(published.calmSince),
    unusedSince: published.unusedSince === null ? null : toTimestamp(published.unusedSince),
    slowSince: published.slowSince === null ? null : toTimestamp(published.slowSince),
  } satisfies Partial<CounterDocument<Timestamp>> & { countReads: number } & {
    [field in Exclude<keyof CorePublished, "collectionCount" | "directCount">]: unknown;
  };
}
