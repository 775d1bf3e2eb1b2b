/** The counter document as the backend sees it: parsed with suspicion, in milliseconds. */
import { type DocumentReference, type DocumentSnapshot, Timestamp } from "firebase-admin/firestore";
import type { CounterDocument } from "../../core/src/index.ts";
import type { Millis } from "./config.ts";

/** What `counters/{id}` holds, the backend's own fields included. */
export interface StoredCounter extends CounterDocument<Timestamp> {
  /** Since when the rate has been low enough to shrink; `null` while it is not. */
  calmSince: Timestamp | null;
  /** Whether the sweep should look again although nobody writes: the counter is hot, scaled up or not yet folded. */
  unsettled: boolean;
  /** How many shards there are whose writes wake nobody. If there are any, the counter is polled. */
  silentShards: number;
  /** How many documents the measurement read: what the next one may cost. */
  shardDocuments: number;
  /** Whether a publish in the minute of `asOf` was of a busy counter: then how that minute ends is kept. */
  busyMinute: boolean;
  /** Shards whose `count` cannot be added and which are therefore left out. Each is reported once in the log. */
  malformed: string[];
}

/** The last publish, as far as decisions need it. */
export interface Published {
  readonly total: number;
  readonly shardCount: number;
  readonly writes: number;
  readonly rate: number;
  readonly publishes: number;
  readonly asOf: Millis;
  readonly calmSince: Millis | null;
  readonly growing: boolean;
  readonly unsettled: boolean;
  readonly silentShards: number;
  readonly shardDocuments: number;
  readonly busyMinute: boolean;
  readonly malformed: readonly string[];
}

/** A counter document, as somebody saw it: what is published over it is published on that condition. */
export interface Seen {
  readonly ref: DocumentReference;
  /** `undefined` if there was no document. */
  readonly updateTime: Timestamp | undefined;
  /** `undefined` if it was never published. */
  readonly published: Published | undefined;
}

/** Cost: 1 read. */
export async function see(ref: DocumentReference): Promise<Seen> {
  return seen(await ref.get());
}

/** No counter document yet. */
export function nothing(ref: DocumentReference): Seen {
  return { ref, updateTime: undefined, published: undefined };
}

export function seen(snapshot: DocumentSnapshot): Seen {
  return { ref: snapshot.ref, updateTime: snapshot.updateTime, published: parseCounter(snapshot) };
}

/**
 * Reads a counter document that may be missing, made ahead by hand, or damaged.
 *
 * @returns `undefined` if it was never published: then nothing in it is known to be true
 */
export function parseCounter(snapshot: DocumentSnapshot): Published | undefined {
  const asOf = millis(snapshot.get("asOf"));
  if (asOf === null) return undefined;
  const number = (field: keyof StoredCounter, least: number) => {
    const value = snapshot.get(field);
    return Number.isFinite(value) && value >= least ? value : Math.max(least, 0);
  };
  const malformed = snapshot.get("malformed");
  return {
    total: number("total", Number.NEGATIVE_INFINITY),
    shardCount: number("shardCount", 1),
    writes: number("writes", 0),
    rate: number("rate", 0),
    publishes: number("publishes", 0),
    asOf,
    calmSince: millis(snapshot.get("calmSince")),
    growing: snapshot.get("growing") === true,
    unsettled: snapshot.get("unsettled") === true,
    silentShards: number("silentShards", 0),
    shardDocuments: number("shardDocuments", 0),
    busyMinute: snapshot.get("busyMinute") === true,
    malformed: Array.isArray(malformed) ? malformed : [],
  };
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
