/** What reading a counter gives. The same for every SDK: `Timestamp` is its timestamp type. */

/** A total and the instant it is exact for. `Timestamp` is the SDK's timestamp type. */
export interface Snapshot<Timestamp> {
  /** The sum of all increments committed at or before `asOf`; 0 for a counter without increments. */
  readonly total: number;
  /** The instant `total` is exact for; `null` for a counter without a published total. */
  readonly asOf: Timestamp | null;
  /** Whether `total` holds increments of this client that the server has not acknowledged yet. */
  readonly pending: boolean;
  /** Whether the total comes from this device's cache, because the server has not been reached. */
  readonly fromCache: boolean;
  /** Writes per second, lately. */
  readonly rate: number;
  /** Over how many shards writers spread now. */
  readonly shardCount: number;
}

/** What any SDK's document snapshot can be asked for. */
interface Document {
  get(field: string): unknown;
}

/** The counter document as a snapshot. */
export function toSnapshot<Timestamp>(document: Document, fromCache: boolean): Snapshot<Timestamp> {
  return {
    total: (document.get("total") as number | undefined) ?? 0,
    asOf: (document.get("asOf") as Timestamp | undefined) ?? null,
    pending: false,
    fromCache,
    rate: (document.get("rate") as number | undefined) ?? 0,
    shardCount: (document.get("shardCount") as number | undefined) ?? 1,
  };
}

/** What decides the order. */
export interface RankOptions {
  /** Whether the total decides, or the writes per second. Default `"total"`. */
  by?: "total" | "rate" | undefined;
}

/** Which counters, and how many. */
export interface TopOptions extends RankOptions {
  /** How many counters at most. Default 10. */
  limit?: number | undefined;
  /** The collection that holds the counters. Default `"counters"`. */
  collection?: string | undefined;
}
