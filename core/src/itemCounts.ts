/**
 * Where items are counted: those of the last 10 seconds wait in `tallyItemCounts`, a document for each commit, until the functions merge
 * them into the counter's summary. Servers and the functions write all of this, clients nothing.
 */
import { CounterError } from "./errors.ts";
import type { ItemCount } from "./topItems.ts";

/** The subcollection of a counter that holds what is not in its summary yet. */
export const ITEM_COUNTS = "tallyItemCounts";

/** `counters/{id}/tallyItemCounts/{random id}`: the items of one commit. Created in it, never updated, deleted when it is merged. */
export interface ItemCountsDocument {
  /** An `ItemSummary`. */
  bytes: Uint8Array;
}

/** `counters/{id}/tallySketches/itemSummary`: all items that are merged. */
export interface ItemSummaryDocument<Timestamp> {
  /** An `ItemSummary`; `null` without items. */
  bytes: Uint8Array | null;
  /** All items committed until then are merged. Absent until all pending items have been merged once. */
  asOf?: Timestamp;
  /** When a server has last reset the items: what was committed until then does not count. */
  resetAt?: Timestamp;
}

/** `counters/{id}/tallySketches/topItems`: what readers read, since the summary is far larger. Written in the same commit. */
export interface TopItemsDocument<Timestamp> {
  /** The {@link MAX_TOP_ITEMS} most frequent items, the most frequent first. */
  top: readonly ItemCount[];
  /** The greatest error of any item. An item that is not in `top` was counted at most `error` plus the `count` of the last one in `top`. */
  error: number;
  /** How much was counted for all items. */
  total: number;
  /** All items committed until then are counted. */
  asOf: Timestamp;
}

/** How many items are published. */
export const MAX_TOP_ITEMS = 100;

/** Path of the collection of pending item counts. */
export function itemCountsPath(counter: string): string {
  return `${counter}/${ITEM_COUNTS}`;
}

/** Path of the summary. */
export function itemSummaryPath(counter: string): string {
  return `${counter}/tallySketches/itemSummary`;
}

/** Path of what readers read. */
export function topItemsPath(counter: string): string {
  return `${counter}/tallySketches/topItems`;
}

/** The most frequent items of a counter. `Timestamp` is the timestamp type of the SDK. */
export interface TopItems<Timestamp> {
  /**
   * The most frequent items, the most frequent first. Each was counted at least `count` times, and at most `count + error` times.
   * An item that is frequent from the start has the error 0.
   */
  readonly items: readonly ItemCount[];
  /** The greatest error that a count may have. 0 as long as the counter has no more than 2,048 different items. */
  readonly error: number;
  /** How much was counted for all items. Exact. */
  readonly total: number;
  /** The instant until which items are counted; `null` if none was. */
  readonly asOf: Timestamp | null;
}

/** @throws CounterError `counter/invalid-option` unless `limit` is a whole number from 1 to 100 */
export function validTopItems(limit = 10): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_TOP_ITEMS) return limit;
  throw new CounterError("counter/invalid-option", `limit is ${limit}; pass a whole number from 1 to ${MAX_TOP_ITEMS}`);
}

/** Converts the document for readers: without one, there are no items. */
export function toTopItems<Timestamp>(
  document: Partial<TopItemsDocument<Timestamp>> | undefined,
  limit: number,
): TopItems<Timestamp> {
  const { top = [], error = 0, total = 0, asOf = null } = document ?? {};
  return { items: top.slice(0, limit), error, total, asOf };
}
