/**
 * The counter document: what it holds, how it is read and how it is written. Each field is checked, because a server may
 * have created or damaged the document.
 */
import { type DocumentReference, type DocumentSnapshot, Timestamp } from "firebase-admin/firestore";
import { type CounterDocument, groupOf, type HistoryState, type Reservation } from "../../core/src/index.ts";
import type { Millis } from "./config.ts";
import { LONGEST_DELAY, PHASES, type Phase } from "./phase.ts";

/** The last publish, in milliseconds. */
export interface Published {
  readonly total: number;
  readonly shardCount: number;
  /** Whether the shard count has grown with this publish, and may grow on. */
  readonly growing: boolean;
  readonly writes: number;
  /** Writes per second, averaged over some seconds. */
  readonly rate: number;
  readonly publishes: number;
  readonly asOf: Millis;
  readonly phase: Phase;
  /** When the next measurement is scheduled; `null` if the next write brings it about. */
  readonly nextPollAt: Millis | null;
  /** Since when the rate has been low enough to shrink, or nothing was written; `null` while neither is so. */
  readonly calmSince: Millis | null;
  /** How many documents `shards` has. */
  readonly shardDocuments: number;
  /** Whether a publish in the minute of `asOf` was of a busy counter: then the last state of that minute is kept. */
  readonly minuteInHistory: boolean;
  /** Shards whose `count` cannot be added and which are therefore left out. Each is reported once in the log. */
  readonly malformedShards: readonly string[];
  /** What counting the collection cost, in reads; 0 for a counter that sums its shards. */
  readonly countReads: number;
  /** The path of the collection that the counter counts; `null` for a counter that sums its shards. */
  readonly countedCollection: string | null;
}

/** A counter document as it was read. Its `updateTime` is the precondition of the next publish. */
export interface CounterState {
  readonly ref: DocumentReference;
  /** `undefined` if there was no document. */
  readonly updateTime: Timestamp | undefined;
  /** `undefined` if it was never published. */
  readonly published: Published | undefined;
  /** How many shards a server wants the counter to have, and until when. */
  readonly reservation: Reserved | undefined;
}

/** A {@link Reservation} in milliseconds. */
export interface Reserved {
  readonly shards: number;
  readonly until: Millis;
}

/** Cost: 1 read. */
export async function readCounter(ref: DocumentReference): Promise<CounterState> {
  return parseCounter(await ref.get());
}

/** The state of a counter without a document. */
export function missingCounter(ref: DocumentReference): CounterState {
  return { ref, updateTime: undefined, published: undefined, reservation: undefined };
}

/** Reads a counter document. Without `asOf` it was never published, and nothing in it is known to be true. */
export function parseCounter(snapshot: DocumentSnapshot): CounterState {
  const { ref, updateTime } = snapshot;
  const reservation = parseReservation(snapshot.get("reservation"));
  const asOf = millis(snapshot.get("asOf"));
  if (asOf === null) return { ref, updateTime, published: undefined, reservation };
  const number = (field: keyof Published, least: number) => {
    const value = snapshot.get(field);
    return Number.isFinite(value) && value >= least ? value : Math.max(least, 0);
  };
  const malformed = snapshot.get("malformedShards");
  const phase = snapshot.get("phase");
  const nextPollAt = pollOf(millis(snapshot.get("nextPollAt")), asOf);
  const countedCollection = snapshot.get("countedCollection");
  const published: Published = {
    total: number("total", Number.NEGATIVE_INFINITY),
    shardCount: number("shardCount", 1),
    growing: snapshot.get("growing") === true,
    writes: number("writes", 0),
    rate: number("rate", 0),
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
  };
  return { ref, updateTime, published, reservation };
}

/** Drops an instant that no publish can have scheduled: writes would wait for it. */
function pollOf(nextPollAt: Millis | null, asOf: Millis): Millis | null {
  return nextPollAt !== null && nextPollAt > asOf && nextPollAt <= asOf + LONGEST_DELAY + 1 ? nextPollAt : null;
}

function parseReservation(value: unknown): Reserved | undefined {
  const { shards, until } = (value ?? {}) as Partial<Reservation<Timestamp>>;
  return Number.isFinite(shards) && until instanceof Timestamp
    ? { shards: shards as number, until: toMillis(until) }
    : undefined;
}

/** What is written for a publish. `asOf` is passed on as it was measured, to the last digit. */
export function serializeCounter(counterId: string, published: Published, asOf: Timestamp) {
  const { nextPollAt, calmSince } = published;
  return {
    ...published,
    asOf,
    group: groupOf(counterId),
    nextPollAt: nextPollAt === null ? null : toTimestamp(nextPollAt),
    calmSince: calmSince === null ? null : toTimestamp(calmSince),
  } satisfies CounterDocument<Timestamp> & { [field in keyof Published]: unknown };
}

/** What the history keeps of a publish. */
export function historyStateOf(published: Published): HistoryState<Timestamp> {
  const { total, shardCount, writes, rate, publishes, asOf } = published;
  return { total, shardCount, writes, rate, publishes, asOf: toTimestamp(asOf) };
}

function millis(value: unknown): Millis | null {
  return value instanceof Timestamp ? toMillis(value) : null;
}

/** Milliseconds with a fraction: exact to a quarter of a microsecond, finer than Firestore's clock. */
export function toMillis(timestamp: Timestamp): Millis {
  return timestamp.seconds * 1_000 + timestamp.nanoseconds / 1e6;
}

/** The timestamp of an instant, to the microsecond. */
export function toTimestamp(millis: Millis): Timestamp {
  const micros = Math.round(millis * 1_000);
  const seconds = Math.floor(micros / 1e6);
  return new Timestamp(seconds, (micros - seconds * 1e6) * 1_000);
}
