/**
 * Where a counter lives in Firestore, and what its documents hold. This is the contract between every client, the
 * security rules and the backend; `docs/data-model.md` tells it in prose.
 *
 * `Timestamp` stands for the platform's timestamp type, so that this module needs no Firebase SDK.
 */

/** `counters/{id}`: what everyone reads. Written by the backend alone. */
export interface CounterDocument<Timestamp> {
  /** The sum of `count` over every document in `shards`, at `asOf`. */
  total: number;
  /** Over how many shards writers should spread now, ≥ 1. Advice to writers: no reader may derive anything from it. */
  shardCount: number;
  /** Shard writes ever counted. Never falls. */
  writes: number;
  /** Writes per second between this publish and the one before. */
  rate: number;
  /** How often it was published. */
  publishes: number;
  /** The instant `total` is exact for. Never falls. */
  asOf: Timestamp;
  /** The part of the id before its first colon; `""` if it has none. For leaderboards. */
  group: string;
  /** Whether `shardCount` has grown with this publish, and so may be more a moment later. */
  growing: boolean;
  /** The path of the collection whose documents are counted instead of shards; `null` if there is none. */
  countedCollection: string | null;
}

/** The field `reservation` of a counter document: a server expects a crowd. */
export interface Reservation<Timestamp> {
  /** `shardCount` is at least this. */
  shards: number;
  /** Until then. */
  until: Timestamp;
}

/** `counters/{id}/shards/{n}`: what landed on one shard. Every field may be absent: a server may write `count` alone. */
export interface ShardDocument<Timestamp, Nonce = unknown> {
  /** The document's own id. First field of the index that adds the shards up. */
  shard: string;
  /** Net sum of the increments that landed here. */
  count: number;
  /** How many writes landed here. Feeds the rate, never the total. */
  writes: number;
  /** Server time of the last write. */
  at: Timestamp;
  /** Window (`"0"`…`"f"`) → nonces of recent writes. Lets the rules refuse a replayed write. */
  marks: Record<string, MarkWindow<Timestamp, Nonce>>;
}

/** The nonces of the writes that were planned within the same quarter of a minute, by their devices' clocks. */
export interface MarkWindow<Timestamp, Nonce> {
  /** Server time of the last write of this window. Two minutes later the window may be removed. */
  at: Timestamp;
  /** One for each write, 4 bytes each. */
  nonces: Nonce[];
}

/** `counters/{id}/entries/{key}`: one keyed increment. Created and deleted, never updated. */
export interface EntryDocument<Timestamp> {
  /** What was added. */
  by: number;
  /** The id of the shard it was added to. */
  shard: string;
  /** Server time of the write. */
  at: Timestamp;
}

/** `counters/{id}/receipts/{random id}`: one commit of a server's plain increments. Created, never updated. */
export interface ReceiptDocument<Timestamp> {
  /** When it may go: the same commit does not arrive again so late. For a TTL policy. */
  expireAt: Timestamp;
}

/** Default of the deploy-time parameter `COLLECTION`. */
export const DEFAULT_COLLECTION = "counters";

/** The subcollection of a counter that holds its shards. */
export const SHARDS = "shards";

/** The backend's own shard: folded shards, imports, resets and corrections. */
export const BASE_SHARD = "base";

/** Firestore's limit on a document id (https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields). */
export const MAX_ID_BYTES = 1_500;

/** Clients' shard ids are the decimal numbers `0` … `9999`: `MAX_SHARDS` of them. */
export const MAX_SHARDS = 10_000;

/** How many windows the marks of a shard have: the clock goes round in four minutes. */
export const MARK_WINDOWS = 16;

/** How long writes add to the same window. */
export const MARK_WINDOW_MILLIS = 15_000;

/** How long a window stays after its last write, at least. `firestore.rules` has the same number. */
export const MARK_LIFETIME_SECONDS = 120;

/** The size of a nonce. It is compared with those of its window alone, some 1,500 on a shard that takes 100 writes a second. */
export const NONCE_BYTES = 4;

/** The group of a counter: what stands before the first colon of its id, `""` if there is none. */
export function groupOf(counterId: string): string {
  const colon = counterId.indexOf(":");
  return colon < 0 ? "" : counterId.slice(0, colon);
}

/** Path of a counter document, relative to the database. The two below are under it. */
export function counterPath(collection: string, counterId: string): string {
  return `${collection}/${counterId}`;
}

/** Path of the collection of a counter's shards. */
export function shardsPath(counter: string): string {
  return `${counter}/${SHARDS}`;
}

/** Path of the collection of a counter's receipts. */
export function receiptsPath(counter: string): string {
  return `${counter}/receipts`;
}

/** Path of the collection of a counter's entries. */
export function entriesPath(counter: string): string {
  return `${counter}/entries`;
}

/** Path of the entry of one key. Written out, because it is in every web app, and a call is some bytes longer. */
export function entryPath(counter: string, key: string): string {
  return `${counter}/entries/${key}`;
}
