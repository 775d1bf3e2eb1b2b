/**
 * The counter document: what it holds, how it is parsed and serialized. Each field is checked, because a server may have
 * created or damaged the document.
 */
import type { DocumentReference, DocumentSnapshot, Timestamp } from "firebase-admin/firestore";
import {
  type CounterDocument,
  type CounterWindows,
  groupOf,
  type HistoryState,
  type RegionTotals,
  type Reservation,
  type Stock,
} from "../../../core/src/index.ts";
import { MAX_TASK_DELAY } from "./cause.ts";
import { finite, millis, parseWindows, serializeWindows, toTimestamp } from "./fields.ts";
import { PHASES, type Phase } from "./phase.ts";
import { parseRegisters, parseUnreachable } from "../features/regions/registers.ts";
import type { Millis } from "./time.ts";

/** The last publish, with times in milliseconds. */
export interface Published {
  readonly total: number;
  readonly shardCount: number;
  /** Whether the shard count has grown or was new with this publish, and may grow further. */
  readonly growing: boolean;
  readonly writes: number;
  /** Writes per second, averaged over some seconds. */
  readonly rate: number;
  /** How much the total changes per second, averaged like `rate`. More than `rate` where one write adds much. */
  readonly amountRate: number;
  readonly publishes: number;
  readonly asOf: Millis;
  readonly phase: Phase;
  /** When the next measurement is scheduled; `null` if the next write triggers it. */
  readonly nextPollAt: Millis | null;
  /** In a quiet phase, since when nothing was written. In the others, since when the rate is low enough to shrink, or `null`. */
  readonly calmSince: Millis | null;
  /** How many documents `shards` had. */
  readonly shardDocuments: number;
  /** Whether the minute of `asOf` gets a point in the history. */
  readonly minuteInHistory: boolean;
  /** Ids of the shards left out of the total because their `count` cannot be added. Each is logged once. */
  readonly malformedShards: readonly string[];
  /** The cost of counting the collection, in reads; 0 for a counter that sums its shards. */
  readonly countReads: number;
  /** The path of the collection whose documents are counted; `null` for a counter that sums its shards. */
  readonly countedCollection: string | null;
  /** What was counted today, this week and this month; `null` if nothing was. */
  readonly windows: CounterWindows<Millis> | null;
  /** The shards of a bounded counter that have units, and how many; `null` if the counter is not bounded. */
  readonly stock: Stock | null;
  /** When the last exchange with other regions is due that a publish has scheduled; `undefined` without other regions. */
  readonly exchangeAt: Millis | undefined;
}

/** A counter document as it was read. Its `updateTime` becomes the precondition of the next publish. */
export interface CounterState {
  readonly ref: DocumentReference;
  /** `undefined` if there is no document. */
  readonly updateTime: Timestamp | undefined;
  /** `undefined` if it was never published. */
  readonly published: Published | undefined;
  /** The fewest shards that a server has asked for, and until when. */
  readonly reservation: Reserved | undefined;
  /** The part of the sum of the shards that the mirror shows, and which field that is. */
  readonly mirrored: number;
  readonly mirroredIn: string | undefined;
  /** The sum of resets, imports and corrections since the last publish. The next one leaves it out of the windows. */
  readonly adjusted: number | undefined;
  /** Whether no shard may fall below zero. */
  readonly bounded: boolean;
  /** What other regions have counted. */
  readonly regions: RegionTotals<Millis>;
  /** Since when other regions could not be reached. */
  readonly unreachable: Readonly<Record<string, Millis>>;
}

/** A {@link Reservation} in milliseconds. */
export type Reserved = Reservation<Millis>;

/** Cost: 1 read. */
export async function readCounter(ref: DocumentReference): Promise<CounterState> {
  return parseCounter(await ref.get());
}

/** The state of a counter without a document. */
export function missingCounter(ref: DocumentReference): CounterState {
  const unknown = { updateTime: undefined, published: undefined, reservation: undefined, adjusted: undefined };
  return { ref, ...unknown, mirrored: 0, mirroredIn: undefined, bounded: false, regions: {}, unreachable: {} };
}

/**
 * Parses a counter document. Without a valid `asOf` it was never published: then only the fields that servers and other regions
 * write are parsed.
 */
export function parseCounter(snapshot: DocumentSnapshot): CounterState {
  const { ref, updateTime } = snapshot;
  const reservation = parseReservation(snapshot.get("reservation"));
  const mirrored = finite(snapshot.get("mirrored"));
  const mirroredIn: string | undefined = snapshot.get("mirroredIn");
  const adjusted = snapshot.get("adjusted") === undefined ? undefined : finite(snapshot.get("adjusted"));
  const regions = parseRegisters(snapshot.get("regions"));
  const unreachable = parseUnreachable(snapshot.get("unreachable"));
  const bounded = snapshot.get("bounded") === true;
  const written = { reservation, mirrored, mirroredIn, adjusted, bounded, regions, unreachable };
  const asOf = millis(snapshot.get("asOf"));
  if (asOf === null) return { ref, updateTime, published: undefined, ...written };
  const number = (field: keyof Published, minimum: number) => {
    const value = snapshot.get(field);
    return Number.isFinite(value) && value >= minimum ? value : Math.max(minimum, 0);
  };
  const malformed = snapshot.get("malformedShards");
  const phase = snapshot.get("phase");
  const nextPollAt = validPollTime(millis(snapshot.get("nextPollAt")), asOf);
  const countedCollection = snapshot.get("countedCollection");
  const published: Published = {
    total: number("total", Number.NEGATIVE_INFINITY),
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
    shardDocuments: number("shardDocuments", 0),
    minuteInHistory: snapshot.get("minuteInHistory") === true,
    malformedShards: Array.isArray(malformed) ? malformed : [],
    countReads: number("countReads", 0),
    countedCollection: typeof countedCollection === "string" ? countedCollection : null,
    windows: parseWindows(snapshot.get("windows")),
    // Decisions do not depend on it.
    stock: null,
    exchangeAt: millis(snapshot.get("exchangeAt")) ?? undefined,
  };
  return { ref, updateTime, published, ...written };
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

/** The fields that a publish writes. `asOf` is stored as it was measured, to the last digit. */
export function serializeCounter(counterId: string, published: Published, asOf: Timestamp) {
  const { nextPollAt, calmSince, windows, exchangeAt, ...same } = published;
  return {
    ...same,
    asOf,
    group: groupOf(counterId),
    nextPollAt: nextPollAt === null ? null : toTimestamp(nextPollAt),
    calmSince: calmSince === null ? null : toTimestamp(calmSince),
    windows: windows && serializeWindows(windows),
    ...(exchangeAt !== undefined && { exchangeAt: toTimestamp(exchangeAt) }),
  } satisfies CounterDocument<Timestamp> & { [field in keyof Omit<Published, "exchangeAt">]: unknown };
}

/** The fields of a publish that the history keeps. */
export function historyStateOf(published: Published): HistoryState<Timestamp> {
  const { total, shardCount, writes, rate, publishes, asOf, windows } = published;
  const state = { total, shardCount, writes, rate, publishes, asOf: toTimestamp(asOf) };
  return { ...state, windows: windows && serializeWindows(windows) };
}
