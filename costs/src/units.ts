/**
 * What Firestore bills an operation as: a document on the Standard edition, the bytes on the Enterprise edition
 * (https://firebase.google.com/docs/firestore/pipelines/pricing,
 * https://firebase.google.com/docs/firestore/enterprise/pricing-examples).
 */
import { type Edition, MAX_LISTED_SHARDS } from "../../functions/src/decisions.ts";
import { type BilledUnit, isEnterprise, type PriceList } from "./prices.ts";
import type { MarkedShard } from "./storedDocuments.ts";

const KIB = 1_024;

const tranches = (bytes: number, size: number) => Math.max(Math.ceil(bytes / size), 1);

/**
 * Write units of a write or a delete, also one that a TTL policy makes.
 *
 * @param bytes         the size of the document after the write; of a delete, before it
 * @param indexEntries  entries that are written or removed, each below 1 KiB: a changed one is two
 */
export function writeUnits(bytes: number, indexEntries = 0): number {
  return tranches(bytes, KIB) + indexEntries;
}

/**
 * Read units of one document; of a query or an aggregation by all bytes that it scans; and the real-time units of a change that a
 * listener receives.
 */
export function readUnits(bytes: number): number {
  return tranches(bytes, 4 * KIB);
}

/** An update is a change that a listener receives. */
export type Operation = "read" | "write" | "delete" | "update" | "invocation" | "task";

/** What each operation is billed as, and how often for documents of a size. */
export interface Billing {
  readonly edition: Edition;
  readonly units: Readonly<Record<Operation, BilledUnit>>;
  /** Of a write or a delete. */
  write(bytes: number): number;
  shardWrite(shard: MarkedShard): number;
  /** A query that returns all documents of a collection. */
  list(documents: number, bytesEach: number): number;
  /** A query of an index that returns so many documents. */
  lookUp(documents: number, bytesEach: number): number;
  /** A count of a collection's documents. */
  count(documents: number): number;
  /** One measurement of a counter with so many documents in `shards`: on Standard by the index, on Enterprise a scan, and a count that shows that no shard is left out. */
  measure(documents: number, bytesEach: number): number;
  /** A sweep that finds no lost poll, by two queries of an index. @param polled  the counters that the first one finds */
  sweep(polled: number, bytesEach: number): number;
}

const FUNCTIONS = { invocation: "invocation", task: "task" } as const;

const STANDARD: Billing = {
  edition: "standard",
  units: { read: "read", write: "write", delete: "delete", update: "read", ...FUNCTIONS },
  write: () => 1,
  shardWrite: () => 1,
  list: (documents) => documents,
  lookUp: (documents) => Math.max(documents, 1),
  count: countingReads,
  measure: measuringReads,
  sweep: (polled) => Math.max(polled, 2),
};

/** What a count is billed for each document, at least (https://firebase.google.com/docs/firestore/enterprise/pricing-examples). */
const COUNTED_BYTES = 32;

/** An index entry with the path of its document, two values and what Firestore adds: an assumption, which matters for hundreds of entries. */
const INDEX_ENTRY_BYTES = 100;

const scan = (documents: number, bytesEach: number) => readUnits(documents * bytesEach);
/** The entries are scanned, and each document that they lead to is read by itself. */
const lookUp = (documents: number, bytesEach: number) =>
  scan(documents, INDEX_ENTRY_BYTES) + documents * readUnits(bytesEach);
const count = (documents: number) => readUnits(documents * COUNTED_BYTES);
const ENTERPRISE: Billing = {
  edition: "enterprise",
  units: { read: "readUnit", write: "writeUnit", delete: "writeUnit", update: "realtimeUnit", ...FUNCTIONS },
  write: writeUnits,
  shardWrite: ({ units }) => units,
  list: scan,
  lookUp,
  count,
  measure: (documents, bytesEach) =>
    scan(documents, bytesEach) + (documents > MAX_LISTED_SHARDS ? count(documents) : 0),
  sweep: (polled, bytesEach) => lookUp(polled, bytesEach) + lookUp(0, bytesEach),
};

export function billingOf(prices: PriceList): Billing {
  return isEnterprise(prices) ? ENTERPRISE : STANDARD;
}

/** Reads of one measurement on Standard, where the index of `shards` is deployed. */
export function measuringReads(documents: number): number {
  return documents <= MAX_LISTED_SHARDS ? documents : 2 * countingReads(documents);
}

/** One for each 1,000 entries of the index, and at least one. */
function countingReads(documents: number): number {
  return tranches(documents, 1_000);
}
