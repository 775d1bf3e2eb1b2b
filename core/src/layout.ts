/**
 * The paths and the documents of a counter in Firestore: the contract between clients, security rules and backend. Its
 * prose is `docs/data-model.md`.
 *
 * `Timestamp` is the timestamp type of the SDK, so this module needs no Firebase import.
 */
import type { CounterWindows } from "./windows.ts";

/** `counters/{id}`: what readers read. Clients write `total` and `direct` while the counter is open; servers write a few other fields. */
export interface CounterDocument<Timestamp> {
  /** The sum of `count` over every document in `shards`, at `asOf`, plus `direct.count`. */
  total: number;
  /** How many shards writers should choose from, ≥ 1. Advice to writers: readers must not derive anything from it. */
  shardCount: number;
  /** How many shard writes were counted so far. Never falls. */
  writes: number;
  /** Writes per second, averaged over some seconds. */
  rate: number;
  /** How many times the counter was published. */
  publishes: number;
  /** The instant for which the shards in `total` are exact. Never falls. Absent before the first publish. */
  asOf: Timestamp;
  /** The part of the id before its first colon; `""` if there is no colon. For leaderboards. */
  group: string;
  /** Whether `shardCount` grew or was new with this publish, so that it may grow soon. */
  growing: boolean;
  /** The path of the collection whose documents the counter counts; `null` if it sums its shards. */
  countedCollection: string | null;
  /** What was counted today, this week and this month; absent if nothing was, or for a counter without windows. For leaderboards. */
  windows?: CounterWindows<Timestamp>;
  /** Where a bounded counter has units; `null` if the counter is not bounded. */
  stock: Stock | null;
}

/** The field `direct` of a counter document: increments that clients have written to it, instead of to a shard. */
export interface DirectFields<Timestamp, Nonce = unknown> {
  /** Whether clients may write the counter document. */
  open: boolean;
  /** Each takes {@link MAX_DIRECT_MARKS} writes, or {@link MAX_MARKS_WITHOUT_FUNCTIONS}. A write names its generation, so no copy of the write counts in another one. */
  generation: number;
  /** The sum of the direct increments. Part of `total`. */
  count: number;
  /** How many direct writes there were. Never falls. */
  writes: number;
  /** Generation modulo {@link DIRECT_SLOTS} → its marks. A write removes the slot of the next generation, which is the oldest one. */
  marks: Record<string, MarkSlot<Timestamp, Nonce>>;
}

/** The field `stock` of a bounded counter's document: shard id → units, of the shards that had some at `asOf`. */
export type Stock = Readonly<Record<string, number>>;

/** The field `reservation` of a counter document: a server expects many writers. */
export interface Reservation<Timestamp> {
  /** The lower limit of `shardCount`. */
  shards: number;
  /** When the limit ends. */
  until: Timestamp;
}

/** `counters/{id}/shards/{n}`: the increments of one shard. Every field may be absent: a server may write `count` alone. */
export interface ShardDocument<Timestamp, Nonce = unknown> {
  /** The id of the document. The first field of the index that sums the shards. */
  shard: string;
  /** The sum of the increments of this shard. */
  count: number;
  /** How many writes the shard has had. For the rate, never for the total. */
  writes: number;
  /** Server time of the last write. */
  at: Timestamp;
  /** Slot (`"0"`…`"4"`) → nonces of recent writes. The rules compare them to refuse a replayed write. */
  marks: Record<string, MarkSlot<Timestamp, Nonce>>;
}

/** The nonces of writes: of a shard, those that were planned within the same 61 seconds, by their devices' clocks. */
export interface MarkSlot<Timestamp, Nonce> {
  /** Server time of the last write in this slot. That of a shard may be removed two minutes later. */
  at: Timestamp;
  /** One nonce for each write, 5 bytes each. */
  nonces: Nonce[];
}

/** `counters/{id}/tallyEntries/{once}`: one increment with `once`, or one take. Created and deleted, never updated. */
export interface EntryDocument<Timestamp> {
  /** The id of the document, so that a query over all counters finds the entries of one `once`. */
  once: string;
  /** The amount; negative for a take. */
  by: number;
  /** The id of the shard that got the amount; `direct` for the counter document. */
  shard: string;
  /** Server time of the write. */
  at: Timestamp;
}

/**
 * `counters/{id}/tallyReceipts/{id}`: a commit of a server's increments without `once`, or an event with an id; `tallyReceipts/{id}`: a batch
 * of events with an id. Never updated.
 */
export interface ReceiptDocument<Timestamp> {
  /** When the document may be deleted: the same commit cannot arrive again after it. For a TTL policy. */
  expireAt: Timestamp;
}

/** `tallyLimits/{name}/tallyUses/{uid}`: what a user has used of a rate limit. Written by the user's clients alone. */
export interface LimitDocument<Timestamp, Reference> {
  /** Decimal index of a slot → server time of its last use. A slot is free again `burst × per / limit` later. */
  slots: Record<string, Timestamp>;
  /** The slot of the last use. */
  slot: number;
  /** The document that the last use has paid for. */
  for: Reference;
  /** When the document may be deleted, a day after its last use at the earliest. For a TTL policy. */
  expireAt: Timestamp;
}

/** `tallyServerLimits/{name}/tallyKeys/{key}`: what servers have used of a rate limit. Written by servers, with preconditions. */
export interface ServerLimitDocument<Timestamp> {
  /** The theoretical arrival time: when the whole burst is free again. Never falls. */
  tat: Timestamp;
  /** Equal to `tat`. After that instant a missing document means the same. For a TTL policy. */
  expireAt: Timestamp;
}

/** The default of the parameter `COLLECTION` of the functions. */
export const DEFAULT_COLLECTION = "counters";

/** The subcollection of a counter that holds its shards. */
export const SHARDS = "shards";

/** The shard of the functions and of servers: folded shards, imports, resets and corrections. */
export const BASE_SHARD = "base";

/** Firestore's limit on a document id (https://firebase.google.com/docs/firestore/quotas#collections_documents_and_fields). */
export const MAX_ID_BYTES = 1_500;

/** How many shards clients may write: their ids are the decimal numbers `0` … `9999`. */
export const MAX_SHARDS = 10_000;

/** How many slots the marks of a shard have. After 305 seconds, writes use the first slot again. */
export const MARK_SLOTS = 5;

/**
 * How long writes add to one slot. It is no divisor of a minute, so a job that runs every five minutes does not always add to the
 * same slot.
 */
export const MARK_SLOT_MILLIS = 61_000;

/** How many nonces a slot has before the rules refuse another one. `firestore.rules` has the same number. */
export const MAX_SLOT_NONCES = 3_000;

/**
 * A slot with so many nonces takes more only in its own 61 seconds, by the server's clock, or so long before and after. Else a client
 * could keep all marks of a shard by a write to each slot every two minutes. `firestore.rules` has the same numbers.
 */
export const MAX_LATE_NONCES = 1_000;
export const EARLY_MARK_MILLIS = 10_000;
export const LATE_MARK_MILLIS = 30_000;

/** How long a slot stays at least after its last write. `firestore.rules` has the same number. */
export const MARK_LIFETIME_SECONDS = 120;

/** The size of a nonce. It must differ from the others in its slot: 61 on a shard with a write a second. */
export const NONCE_BYTES = 5;

/**
 * How many slots the marks of direct increments have: one per generation. A write removes the slot of the generation that was seven
 * before its own. The functions begin a generation when the last one took 20 seconds or more, so marks stay for two minutes at least.
 * `firestore.rules` has the same number.
 */
export const DIRECT_SLOTS = 8;

/** How many writes a generation takes while there are functions. `firestore.rules` has the same number. */
export const MAX_DIRECT_MARKS = 4;

/**
 * How many it takes without functions, when none closes the document. Marks then stay for two minutes at up to two increments a second,
 * more than the document takes for long. `firestore.rules` has the same number.
 */
export const MAX_MARKS_WITHOUT_FUNCTIONS = 40;

/** A client may begin the next generation if the last write of this one came so long after that of the one before. `firestore.rules` has the same number. */
export const SLOW_GENERATION_SECONDS = 60;

/** What an entry names instead of a shard if its increment was written to the counter document. */
export const DIRECT = "direct";

/** The group of a counter: the part of its id before the first colon, `""` if there is no colon. */
export function groupOf(counterId: string): string {
  const colon = counterId.indexOf(":");
  return colon < 0 ? "" : counterId.slice(0, colon);
}

/** Path of a counter document, relative to the database. The paths below are under it. */
export function counterPath(collection: string, counterId: string): string {
  return `${collection}/${counterId}`;
}

/** Path of the collection of a counter's shards. */
export function shardsPath(counter: string): string {
  return `${counter}/${SHARDS}`;
}

/** The collection of the receipts of ingested batches, which can have events of several counters. */
export const BATCH_RECEIPTS = "tallyReceipts";

/** Path of the collection of a counter's receipts: of increments of servers, and of ingested events with ids of their own. */
export function receiptsPath(counter: string): string {
  return `${counter}/tallyReceipts`;
}

/** The subcollection of a counter that holds its entries. */
export const ENTRIES = "tallyEntries";

/** Path of the collection of a counter's entries. */
export function entriesPath(counter: string): string {
  return `${counter}/${ENTRIES}`;
}

/** Path of the entry of one `once`. It does not call `entriesPath`, which would make every web app some bytes larger. */
export function entryPath(counter: string, once: string): string {
  return `${counter}/tallyEntries/${once}`;
}

/** Path of a document that does not exist; the rules let clients read it from this instant on, in milliseconds since the epoch. */
export function timePath(counter: string, instant: number): string {
  return `${counter}/time/${instant}`;
}

/** Path of the document that has a user's uses of a rate limit. */
export function limitPath(name: string, uid: string): string {
  return `tallyLimits/${name}/tallyUses/${uid}`;
}

/** Path of what servers have used of a rate limit, relative to the database. */
export function serverLimitPath(name: string, key: string): string {
  return `tallyServerLimits/${name}/tallyKeys/${key}`;
}
