/**
 * Where keys are counted: those of the last 10 seconds wait in `tallyItemCounts`, a document for each commit, until the functions merge
 * them into the counter's summary. Servers and the functions write all of this, clients nothing.
 */
import { CounterError } from "./errors.ts";
import type { KeyCount } from "./topKeys.ts";

/** The subcollection of a counter that holds what is not in its summary yet. */
export const KEY_COUNTS = "tallyItemCounts";

/** `counters/{id}/tallyItemCounts/{random id}`: the keys of one commit. Created in it, never updated, deleted when it is merged. */
export interface KeyCountsDocument {
  /** A `KeySummary`. */
  bytes: Uint8Array;
}

/** `counters/{id}/tallySketches/keySummary`: all keys that are merged. */
export interface KeySummaryDocument<Timestamp> {
  /** A `KeySummary`; `null` without keys. */
  bytes: Uint8Array | null;
  /** All keys committed until then are merged. Absent until all pending keys have been merged once. */
  asOf?: Timestamp;
  /** When a server has last reset the keys: what was committed until then does not count. */
  resetAt?: Timestamp;
}

/** `counters/{id}/tallySketches/topKeys`: what readers read, since the summary is far larger. Written in the same commit. */
export interface TopKeysDocument<Timestamp> {
  /** The {@link MAX_TOP_KEYS} most frequent keys, the most frequent first. */
  top: readonly KeyCount[];
  /** The greatest error of any key. A key that is not in `top` was counted at most `error` plus the `count` of the last one in `top`. */
  error: number;
  /** How much was counted for all keys. */
  total: number;
  /** All keys committed until then are counted. */
  asOf: Timestamp;
}

/** How many keys are published. */
export const MAX_TOP_KEYS = 100;

/** Path of the collection of pending key counts. */
export function keyCountsPath(counter: string): string {
  return `${counter}/${KEY_COUNTS}`;
}

/** Path of the summary. */
export function keySummaryPath(counter: string): string {
  return `${counter}/tallySketches/keySummary`;
}

/** Path of what readers read. */
export function topKeysPath(counter: string): string {
  return `${counter}/tallySketches/topKeys`;
}

/** The most frequent keys of a counter. `Timestamp` is the timestamp type of the SDK. */
export interface TopKeys<Timestamp> {
  /**
   * The most frequent keys, the most frequent first. Each was counted at least `count` times, and at most `count + error` times.
   * A key that is frequent from the start has the error 0.
   */
  readonly keys: readonly KeyCount[];
  /** The greatest error that a count may have. 0 as long as the counter has no more than 2,048 different keys. */
  readonly error: number;
  /** How much was counted for all keys. Exact. */
  readonly total: number;
  /** The instant until which keys are counted; `null` if none was. */
  readonly asOf: Timestamp | null;
}

/** @throws CounterError `counter/invalid-option` unless `k` is a whole number from 1 to 100 */
export function validTopKeys(k: number): number {
  if (Number.isInteger(k) && k >= 1 && k <= MAX_TOP_KEYS) return k;
  throw new CounterError("counter/invalid-option", `k is ${k}; pass a whole number from 1 to ${MAX_TOP_KEYS}`);
}

/** Converts the document for readers: without one, there are no keys. */
export function toTopKeys<Timestamp>(
  document: Partial<TopKeysDocument<Timestamp>> | undefined,
  k: number,
): TopKeys<Timestamp> {
  const { top = [], error = 0, total = 0, asOf = null } = document ?? {};
  return { keys: top.slice(0, k), error, total, asOf };
}
