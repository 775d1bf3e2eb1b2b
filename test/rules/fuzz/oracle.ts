/**
 * Checks the effect of an accepted batch by the documents before and after it alone, independent of the rules and of how the
 * batch was made.
 */
import { createHash } from "node:crypto";
import type { Fields, User, Value, World, Write } from "../rest.ts";
import {
  faultOfSlot,
  fieldsOfMap,
  integer,
  isEqual,
  isWithin,
  markSlots,
  marksOf,
  nonceOf,
  numberOf,
  type Span,
  textOf,
  UIDS,
} from "./values.ts";

/** Counters of each kind, with all paths that a batch may write. */
export interface Counters {
  readonly open: string;
  /** No function of the policy names its group. */
  readonly closed: string;
  readonly perUser: string;
  readonly paths: readonly string[];
}

/** The two shards that clients may write. */
export const SHARD_IDS = ["0", "1"];
/** Ids that clients must not write: the backend's, an index too high, another spelling of 0, no number. */
export const FOREIGN_SHARD_IDS = ["base", "10000", "00", "add-x"];

/** The hash of a visitor. */
export function hashOf(user: string): string {
  return createHash("sha256").update(user).digest("hex").slice(0, 16);
}

/** The buckets of all visitors, in the two lengths, and ids that no client may write. */
export const BUCKETS = [
  ...new Set([...UIDS.map(hashOf).flatMap((hash) => [hash.slice(0, 1), hash.slice(0, 2)]), "", "abc", "zz"]),
].filter(Boolean);

/** @param id  unique for each world */
export function countersOf(id: string): Counters {
  const open = `counters/views:${id}`;
  const closed = `counters/junk:${id}`;
  const perUser = `counters/likes:${id}`;
  const around = (counter: string) => [
    counter,
    `${counter}/other/x`,
    ...[...SHARD_IDS, ...FOREIGN_SHARD_IDS].map((shard) => `${counter}/shards/${shard}`),
    ...UIDS.map((once) => `${counter}/tallyEntries/${once}`),
    ...BUCKETS.map((bucket) => `${counter}/tallyVisitors/${bucket}`),
    ...["uniques", "topItems", "itemSummary"].map((sketch) => `${counter}/tallySketches/${sketch}`),
    `${counter}/tallyItemCounts/x`,
  ];
  return { open, closed, perUser, paths: [...around(open), ...around(perUser), `${closed}/shards/0`] };
}

/** The documents that a world begins with. */
export function initialDocuments({ open, perUser }: Counters): Write[] {
  const document = (path: string, set: Fields): Write => ({ path, set });
  return [
    document(open, { total: integer(12), writes: integer(9) }),
    document(perUser, { total: integer(6), writes: integer(3) }),
    // A base as a fold or an import leaves it, and a shard that a server wrote with a count alone.
    document(`${open}/shards/base`, { count: integer(5), writes: integer(2) }),
    document(`${open}/shards/1`, { count: integer(7) }),
    document(`${open}/shards/0`, {
      shard: { stringValue: "0" },
      count: integer(2),
      writes: integer(2),
      at: { timestampValue: "2020-01-01T00:00:00Z" },
      marks: markSlots({
        1: ["2020-01-01T00:00:00Z", nonceOf(-6)],
        2: ["2020-01-01T00:00:00Z", nonceOf(-4)],
        4: ["2020-01-01T00:00:00Z", nonceOf(-7)],
        3: [new Date().toISOString(), nonceOf(-5)],
      }),
    }),
    document(`${open}/tallyVisitors/${hashOf("alice")[0]}`, {
      visitors: { arrayValue: { values: [{ stringValue: hashOf("carol") }] } },
    }),
    document(`${perUser}/shards/base`, { count: integer(5), writes: integer(2) }),
    document(`${perUser}/shards/1`, {
      count: integer(1),
      writes: integer(1),
      at: { timestampValue: "2020-01-01T00:00:00Z" },
      shard: { stringValue: "1" },
      marks: markSlots({ 0: ["2020-01-01T00:00:00Z", nonceOf(-3)], 1: [new Date().toISOString(), nonceOf(-2)] }),
    }),
    document(`${perUser}/tallyEntries/carol`, {
      once: { stringValue: "carol" },
      by: integer(1),
      shard: { stringValue: "1" },
      at: { timestampValue: "2020-01-01T00:00:00Z" },
    }),
  ];
}

/** @returns the violation that an accepted batch has caused, if any */
export function findViolation(
  { open, perUser, paths }: Counters,
  before: World,
  after: World,
  user: User,
  writes: readonly Write[],
  span: Span,
): string | undefined {
  const own = user === null ? undefined : `${perUser}/tallyEntries/${user}`;
  const shards = [open, perUser].flatMap((counter) => SHARD_IDS.map((id) => `${counter}/shards/${id}`));
  for (const path of paths) {
    if (path === own || shards.includes(path)) continue;
    if (user !== null && path.startsWith(`${open}/tallyVisitors/`)) {
      const fault = faultOfBucket(path.slice(path.lastIndexOf("/") + 1), before[path], after[path], hashOf(user));
      if (fault) return `${path}: ${fault}`;
    } else if (!isEqual(before[path], after[path])) return `${path} was changed`;
  }
  const [old, entry] = own ? [before[own], after[own]] : [];
  if (entry && !isEqual(old, entry)) {
    const fault = old ? "was updated" : faultOfEntry(entry, String(user), span);
    if (fault) return `${own}: ${fault}`;
  }
  for (const path of shards) {
    const hits = writes.filter((write) => write.path === path).length;
    const id = path.slice(path.lastIndexOf("/") + 1);
    const fault = faultOfShard(id, before[path], after[path], hits, span);
    if (fault) return `${path}: ${fault}`;
  }
  for (const path of SHARD_IDS.map((id) => `${open}/shards/${id}`)) {
    const grown = count(after[path]) - count(before[path]);
    const writes = written(before[path], after[path]);
    if (grown !== writes) return `${path}: ${writes} increments added ${grown}`;
  }
  for (const id of SHARD_IDS) {
    const sum = count(after[`${perUser}/shards/${id}`]);
    const entries = UIDS.filter((once) => textOf(after[`${perUser}/tallyEntries/${once}`]?.shard) === id).length;
    if (sum !== entries) return `${perUser}: shard ${id} counts ${sum}, but ${entries} entries are on it`;
  }
  return undefined;
}

/** A bucket may get the user's own hash, once, at its end. */
function faultOfBucket(id: string, before: Fields | undefined, after: Fields | undefined, own: string) {
  if (isEqual(before, after)) return undefined;
  if (!own.startsWith(id) || id.length > 2) return "is not the user's bucket";
  if (Object.keys(after ?? {}).join() !== "visitors") return `has the fields ${Object.keys(after ?? {})}`;
  const [known, hashes] = [visitorsOf(before), visitorsOf(after)];
  if (known.includes(own)) return "was changed by a visitor whom it had";
  return isEqual(hashes, [...known, own]) ? undefined : `has the visitors ${hashes} instead of ${known}`;
}

/** The hashes in a bucket; what is no text as it is. */
export function visitorsOf(bucket: Fields | undefined): unknown[] {
  const values = (bucket?.visitors?.arrayValue as { values?: Value[] } | undefined)?.values ?? [];
  return values.map((value) => textOf(value) ?? value);
}

function faultOfEntry(entry: Fields, once: string, span: Span): string | undefined {
  if (Object.keys(entry).sort().join() !== "at,by,once,shard") return `has the fields ${Object.keys(entry)}`;
  if (textOf(entry.once) !== once) return `has once = ${JSON.stringify(entry.once)}`;
  if (numberOf(entry.by) !== 1) return `counts ${JSON.stringify(entry.by)}`;
  if (!SHARD_IDS.includes(textOf(entry.shard) ?? "")) return `is on ${JSON.stringify(entry.shard)}`;
  return isWithin(entry.at, span) ? undefined : `was made at ${JSON.stringify(entry.at)}`;
}

/** @param hits  how many writes of the batch wrote the shard */
function faultOfShard(id: string, before: Fields | undefined, after: Fields | undefined, hits: number, span: Span) {
  if (hits === 0) return isEqual(before, after) ? undefined : "was changed by no write";
  if (before && written(before, after) === 0 && after) return "was changed by a write that does not count";
  if (!after) return "is gone";
  const foreign = Object.keys(after).filter((field) => !["shard", "count", "writes", "at", "marks"].includes(field));
  if (foreign.length > 0) return `has the fields ${foreign}`;
  if (textOf(after.shard) !== id) return `calls itself ${JSON.stringify(after.shard)}`;
  if (!Number.isFinite(numberOf(after.count))) return `counts ${JSON.stringify(after.count)}`;
  if (!before?.count?.doubleValue && !after.count?.integerValue) return `counts ${JSON.stringify(after.count)}`;
  // The emulator applies the rules to several writes of a document as one. Production may count each.
  const counted = written(before, after);
  if (counted < 1 || counted > hits) return `${hits} writes count themselves as ${counted}`;
  if (!after.writes?.integerValue) return `has counted ${JSON.stringify(after.writes)} writes`;
  if (!isWithin(after.at, span)) return `was written at ${JSON.stringify(after.at)}`;
  return faultOfMarks(marksOf(before), marksOf(after), hits, span);
}

/** Each write appends a nonce. All others stay, or are removed with their slot, two minutes after its last write. */
function faultOfMarks(before: Fields, after: Fields, hits: number, span: Span): string | undefined {
  const lost = Object.keys(before).filter((name) => !(name in after));
  const young = lost.filter(
    (name) => span.to - Date.parse(String(fieldsOfMap(before[name]).at?.timestampValue)) < 120_000,
  );
  if (young.length > 0) return `lost the young slots ${young}`;
  const changed = Object.keys(after).filter((name) => !isEqual(before[name], after[name]));
  if (changed.length < 1 || changed.length > hits) return `${hits} writes changed ${changed.length} slots`;
  for (const name of changed) {
    if (!/^[0-4]$/.test(name)) return `has a slot ${name}`;
    const fault = faultOfSlot(name, before[name], after[name], hits, span);
    if (fault) return fault;
  }
  return undefined;
}

function written(before: Fields | undefined, after: Fields | undefined): number {
  return (numberOf(after?.writes) ?? 0) - (numberOf(before?.writes) ?? 0);
}

function count(shard: Fields | undefined): number {
  return numberOf(shard?.count) ?? 0;
}
