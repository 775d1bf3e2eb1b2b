/**
 * How large the documents are that Tally writes, for the Enterprise edition: built as docs/data-model.md has them, for a counter
 * `views:home` and users with ids of 28 characters. Tests compare them with what the functions write and with real marks.
 */
import { DIRECT_SLOTS, eachWindow, MAX_DIRECT_MARKS, NONCE_BYTES, VISITOR_HASH_DIGITS } from "../../core/src/index.ts";
import { documentBytes, type StoredFields } from "./documentSize.ts";

const COUNTER = "counters/views:home";
const UID = "x".repeat(28);
const at = { toMillis: () => 0 };

const window = { until: at, total: 0 };
const windows = { timeZone: "UTC", ...eachWindow(() => window) };
const point = { total: 0, writes: 0, rate: 0, shardCount: 0, publishes: 0, asOf: at };

const counterFields = {
  ...{ total: 0, shardCount: 0, growing: false, writes: 0, rate: 0, publishes: 0, asOf: at, group: "views" },
  ...{ countedCollection: null, stock: null, phase: "scattered", nextPollAt: at },
  ...{ calmSince: at, unusedSince: at },
  ...{ shardDocuments: 0, slowSince: null, amountRate: 0, malformedShards: [], countReads: 0 },
} satisfies StoredFields;

/** What a counter's group may have chosen. */
export interface Chosen {
  readonly windows?: boolean;
  readonly history?: boolean;
}

/** Of a counter that several regions count, with the registers of the others. */
export function counterBytes(regions = 1, chosen: Chosen = {}): number {
  const register = { total: 0, asOf: at, windows: chosen.windows ? windows : null };
  const others = Object.fromEntries(Array.from({ length: regions - 1 }, (_, n) => [`region${n}`, register]));
  const globals = {
    globalTotal: 0,
    regions: others,
    exchangeAt: at,
    ...(chosen.windows && { globalWindows: windows }),
  };
  return documentBytes(COUNTER, {
    ...counterFields,
    ...(chosen.windows && { windows }),
    ...(chosen.history && { minuteInHistory: true }),
    ...(regions > 1 && globals),
  });
}

/** Four writes with nonces of 5 bytes. A write removes the oldest slot. */
const marks = Object.fromEntries(
  Array.from({ length: DIRECT_SLOTS - 1 }, (_, slot) => [
    `${slot}`,
    { at, nonces: Array.from({ length: MAX_DIRECT_MARKS }, () => new Uint8Array(NONCE_BYTES)) },
  ]),
);

const shardFields = { shard: "100", count: 0, writes: 0, at };

export const BYTES = {
  entry: documentBytes(`${COUNTER}/tallyEntries/${UID}`, { once: UID, by: 1, shard: "100", at }),
  receipt: documentBytes(`${COUNTER}/tallyReceipts/${UID}`, { expireAt: at }),
  /** Of a counter document to which clients write, once the functions have published it. */
  directCounter: documentBytes(COUNTER, {
    ...counterFields,
    direct: { open: true, generation: 0, count: 0, writes: 0, marks },
  }),
  /** Of a shard that servers alone write, and of `base`. */
  unmarkedShard: documentBytes(`${COUNTER}/shards/100`, shardFields),
  /** The sketch of visitors beyond 1,536: 16,384 registers of 6 bits. */
  sketch: documentBytes(`${COUNTER}/tallySketches/uniques`, {
    ...{ format: "dense", bytes: new Uint8Array(12_288), asOf: at, uniques: 0, buckets: 16 },
  }),
} as const;

/** @param visitors  hashes of 16 digits that a bucket has */
export function bucketBytes(visitors: number): number {
  const hashes = Array.from({ length: visitors }, () => "0".repeat(VISITOR_HASH_DIGITS));
  return documentBytes(`${COUNTER}/tallyVisitors/00`, { visitors: hashes });
}

/** @param points  minutes of the hour, or hours of the day, that the document has */
export function historyBytes(points: number, chosen: Chosen = {}): number {
  const empty = documentBytes(`${COUNTER}/tallyHistory/minutes-2026-11-21T14`, { points: {}, expireAt: at });
  const one =
    documentBytes("a", { points: { "00": { ...point, ...(chosen.windows && { windows }) } } }) -
    documentBytes("a", { points: {} });
  return empty + points * one;
}

/** A shard with the marks of its writes. */
export interface MarkedShard {
  /** The mean at a write. */
  readonly bytes: number;
  /** Write units of a write: more than `bytes` tells, where some writes find it above 1 KiB. */
  readonly units: number;
}

/**
 * By accepted writes per second on one shard, as measured by the plans of increments (test/docs/markSizes.test.ts): sent in
 * transactions, which remove expired marks; or through the SDK's queue, as those of clients that watch. The functions look at marks as often
 * as on Enterprise.
 */
export const MARKED_SHARDS = [
  { perSecond: 0.02, transactions: { bytes: 375, units: 1 }, queue: { bytes: 530, units: 1 } },
  { perSecond: 0.1, transactions: { bytes: 477, units: 1 }, queue: { bytes: 580, units: 1 } },
  { perSecond: 0.25, transactions: { bytes: 593, units: 1 }, queue: { bytes: 626, units: 1 } },
  { perSecond: 0.5, transactions: { bytes: 788, units: 1.01 }, queue: { bytes: 786, units: 1.03 } },
  { perSecond: 0.7, transactions: { bytes: 932, units: 1.22 }, queue: { bytes: 928, units: 1.21 } },
  { perSecond: 1, transactions: { bytes: 1_164, units: 1.84 }, queue: { bytes: 1_167, units: 1.84 } },
  { perSecond: 10, transactions: { bytes: 7_896, units: 8.21 }, queue: { bytes: 7_896, units: 8.21 } },
] as const;

/**
 * @param perSecond  writes of the shard
 * @param queued     the share of its writes that go through the SDK's queue
 */
export function markedShard(perSecond: number, queued: number): MarkedShard {
  const found = MARKED_SHARDS.findIndex((row) => row.perSecond >= perSecond);
  const next = Math.max(found === -1 ? MARKED_SHARDS.length - 1 : found, 1);
  const [low, high] = [MARKED_SHARDS[next - 1], MARKED_SHARDS[next]] as [Row, Row];
  const part = Math.max((perSecond - low.perSecond) / (high.perSecond - low.perSecond), 0);
  const mean = (of: keyof MarkedShard) => {
    const mixed = ({ transactions, queue }: Row) => (1 - queued) * transactions[of] + queued * queue[of];
    return mixed(low) + part * (mixed(high) - mixed(low));
  };
  return { bytes: mean("bytes"), units: mean("units") };
}

type Row = (typeof MARKED_SHARDS)[number];
