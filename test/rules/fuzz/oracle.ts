/**
 * Checks the effect of an accepted batch by the documents before and after it alone, independent of the rules and of how the
 * batch was made.
 */
import { createHash } from "node:crypto";
import type { Fields, User, Value, World, Write } from "../rest.ts";
import {
  type DirectCounters,
  directCountersOf,
  directPathsOf,
  faultOfDirectIncrements,
  faultOfLikes,
  initialDirectDocuments,
} from "./directOracle.ts";

import {
  faultOfWindow,
  fieldsOfMap,
  integer,
  isEqual,
  isWithin,
  marksOf,
  markWindows,
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
  /** Its increments are limited. */
  readonly limited: string;
  /** It is bounded. */
  readonly stock: string;
  /** Old clients write it. */
  readonly old: string;
  /** Documents of an app that are limited, too. */
  readonly notes: readonly string[];
  readonly direct: DirectCounters;
  /** The collection of the limit documents, by uid. */
  readonly limit: string;
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

/**
 * @param id     unique for each world
 * @param parts  the parts of the rules that batches are about: paths of the others are left out
 */
export function countersOf(id: string, parts: Part = "all"): Counters {
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
  const limited = `counters/claps:${id}`;
  const limit = `tallyLimits/claps:${id}/tallyUses`;
  const notes = ["0", "1"].map((note) => `notes/claps:${id}/all/${note}`);
  const stock = `counters/tickets:${id}`;
  const old = `counters/hits:${id}`;
  const direct = directCountersOf(id);
  const uses = UIDS.map((uid) => `${limit}/${uid}`);
  const paths = {
    counting: [...around(open), ...around(perUser), `${closed}/shards/0`],
    limited: [...notes, `${limited}/shards/0`, ...uses],
    direct: [
      ...directPathsOf(direct),
      ...uses,
      limited,
      `${limited}/shards/0`,
      closed,
      stock,
      ...UIDS.map((once) => `${stock}/tallyEntries/${once}`),
    ],
    old: [
      old,
      ...[...SHARD_IDS, ...FOREIGN_SHARD_IDS, "7"].map((shard) => `${old}/shards/${shard}`),
      ...[perUser, stock, closed].flatMap((counter) => SHARD_IDS.map((shard) => `${counter}/shards/${shard}`)),
    ],
    stock: [
      ...SHARD_IDS.map((shard) => `${stock}/shards/${shard}`),
      ...UIDS.map((once) => `${stock}/tallyEntries/${once}`),
    ],
  };
  const of = parts === "all" ? [...new Set(Object.values(paths).flat())] : paths[parts];
  return { open, closed, perUser, limited, stock, old, notes, direct, limit, paths: of };
}

/** The limit of the notes and claps of a world. */
export const LIMIT = { limit: 3, per: 70, burst: 2 };

/** A part of the rules. */
export type Part = "counting" | "limited" | "stock" | "old" | "direct" | "all";

/** The units in each shard of stock. */
const UNITS: Readonly<Record<string, number>> = { 0: 3, 1: 40 };

/** The documents that a world begins with. */
export function initialDocuments({ open, perUser, stock, old, direct }: Counters): Write[] {
  const document = (path: string, set: Fields): Write => ({ path, set });
  return [
    ...initialDirectDocuments(direct),
    ...SHARD_IDS.map((id) =>
      document(`${stock}/shards/${id}`, {
        shard: { stringValue: id },
        count: integer(UNITS[id] ?? 0),
        writes: integer(0),
      }),
    ),
    // One shard as it was made by hand, and others after the adoption.
    document(old, { num_shards: integer(2) }),
    document(`${old}/shards/0`, { count: integer(4) }),
    document(`${old}/shards/1`, { shard: { stringValue: "1" }, count: integer(4), writes: integer(0) }),
    document(`${old}/shards/base`, { shard: { stringValue: "base" }, count: integer(4), writes: integer(0) }),
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
      marks: markWindows({
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
      marks: markWindows({ 0: ["2020-01-01T00:00:00Z", nonceOf(-3)], 1: [new Date().toISOString(), nonceOf(-2)] }),
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
  { open, perUser, limited, stock, old, notes, direct, limit, paths }: Counters,
  before: World,
  after: World,
  user: User,
  writes: readonly Write[],
  span: Span,
): string | undefined {
  const own = new Set(
    user === null ? [] : [perUser, stock, direct.likes].map((counter) => `${counter}/tallyEntries/${user}`),
  );
  const claps = `${limited}/shards/0`;
  const shards = [
    ...[open, perUser, stock, direct.likes].flatMap((counter) => SHARD_IDS.map((id) => `${counter}/shards/${id}`)),
    claps,
  ];
  const ownLimit = `${limit}/${user}`;
  const payable = new Set([...notes, claps, limited]);
  const documents = [direct.fresh, direct.slow, direct.fast, direct.quiet, direct.likes, limited];
  const oldShards = SHARD_IDS.map((id) => `${old}/shards/${id}`);
  for (const path of paths) {
    if (
      own.has(path) ||
      shards.includes(path) ||
      documents.includes(path) ||
      payable.has(path) ||
      (user && path === ownLimit)
    )
      continue;
    if (oldShards.includes(path)) {
      const fault = faultOfOldShard(before[path], after[path]);
      if (fault) return `${path}: ${fault}`;
      continue;
    }
    if (user !== null && path.startsWith(`${open}/tallyVisitors/`)) {
      const fault = faultOfBucket(path.slice(path.lastIndexOf("/") + 1), before[path], after[path], hashOf(user));
      if (fault) return `${path}: ${fault}`;
    } else if (!isEqual(before[path], after[path])) return `${path} was changed`;
  }
  for (const path of [...own].filter((path) => paths.includes(path))) {
    const [old, entry] = [before[path], after[path]];
    if (!entry || isEqual(old, entry)) continue;
    if (old) return `${path} was updated`;
    const fault = faultOfEntry(entry, String(user), path.startsWith(stock), path.startsWith(direct.likes), span);
    if (fault) return `${path}: ${fault}`;
  }
  for (const path of shards.filter((path) => paths.includes(path))) {
    const hits = writes.filter((write) => write.path === path).length;
    const id = path.slice(path.lastIndexOf("/") + 1);
    const fault = faultOfShard(id, before[path], after[path], hits, span);
    if (fault) return `${path}: ${fault}`;
  }
  for (const path of documents.filter((path) => paths.includes(path))) {
    const hits = writes.filter((write) => write.path === path).length;
    const fault = faultOfDirectIncrements(path, before[path], after[path], hits, span);
    if (fault) return `${path}: ${fault}`;
  }
  const fault = faultOfLikes(direct.likes, before, after, user);
  if (fault) return `${direct.likes}: ${fault}`;
  for (const path of [...SHARD_IDS.map((id) => `${open}/shards/${id}`), claps]) {
    const grown = count(after[path]) - count(before[path]);
    const writes = written(before[path], after[path]);
    if (grown !== writes) return `${path}: ${writes} increments added ${grown}`;
  }
  if (user) {
    const fault = faultOfUse(before[ownLimit], after[ownLimit], span);
    if (fault) return `${ownLimit}: ${fault}`;
  }
  for (const path of payable) {
    if (isEqual(before[path], after[path])) continue;
    const fault = after[path] ? faultOfPayment(path, before[ownLimit], after[ownLimit]) : "is gone";
    if (fault) return `${path}: ${fault}`;
  }
  for (const id of SHARD_IDS) {
    const sum = count(after[`${perUser}/shards/${id}`]);
    const entries = UIDS.filter((once) => textOf(after[`${perUser}/tallyEntries/${once}`]?.shard) === id).length;
    if (sum !== entries) return `${perUser}: shard ${id} counts ${sum}, but ${entries} entries are on it`;
    const units = count(after[`${stock}/shards/${id}`]);
    const taken = UIDS.map((once) => after[`${stock}/tallyEntries/${once}`])
      .filter((entry) => textOf(entry?.shard) === id)
      .reduce((all, entry) => all - (numberOf(entry?.by) ?? 0), 0);
    if (!paths.includes(`${stock}/shards/${id}`)) continue;
    if (units < 0) return `${stock}: shard ${id} has ${units} units`;
    if (units + taken !== UNITS[id]) return `${stock}: shard ${id} has ${units} units, and ${taken} are taken`;
  }
  return undefined;
}

/** The count of an old client's shard may be one more, and nothing else may change. */
function faultOfOldShard(before: Fields | undefined, after: Fields | undefined): string | undefined {
  if (!before || !after) return "is gone, or new";
  const by = count(after) - count(before);
  if (!after.count?.integerValue || ![0, 1].includes(by)) return `counts ${JSON.stringify(after.count)}, ${by} more`;
  return isEqual({ ...before, count: null }, { ...after, count: null }) ? undefined : "has changed in other fields";
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

/** A limit document changes in one slot, to the server's time, and stays for a day. */
function faultOfUse(before: Fields | undefined, after: Fields | undefined, span: Span): string | undefined {
  if (isEqual(before, after)) return undefined;
  if (!after) return "is gone";
  if (Object.keys(after).sort().join() !== "expireAt,for,slot,slots") return `has the fields ${Object.keys(after)}`;
  const { slot = {}, for: document = {}, expireAt = {} } = after;
  if (!/^\d\d?$/.test(String(slot.integerValue))) return `has used the slot ${JSON.stringify(slot)}`;
  if (typeof document.referenceValue !== "string") return `has paid for ${JSON.stringify(document)}`;
  const end = Date.parse(String(expireAt.timestampValue));
  if (!(end >= span.from + 86_400_000)) return `ends at ${JSON.stringify(expireAt)}`;
  const [old, slots] = [slotsOf(before), slotsOf(after)];
  const changed = [...new Set([...Object.keys(old), ...Object.keys(slots)])].filter((n) => !isEqual(old[n], slots[n]));
  if (changed.join() !== slot.integerValue) return `says ${slot.integerValue}, but has changed the slots ${changed}`;
  const time = slots[changed[0] as string];
  return isWithin(time, span) ? undefined : `was used at ${JSON.stringify(time)}`;
}

/** The use of this commit names the document, and its slot had rested. */
function faultOfPayment(path: string, before: Fields | undefined, after: Fields | undefined): string | undefined {
  if (isEqual(before, after)) return "was changed without a use";
  const paid = String(after?.for?.referenceValue).replace(/^.*\/documents\//, "");
  if (paid !== path) return `was changed by a use for ${paid}`;
  const slot = String(after?.slot?.integerValue);
  if (!(Number(slot) < LIMIT.burst)) return `was paid by the slot ${slot}`;
  const [last, time] = [slotsOf(before)[slot], slotsOf(after)[slot]].map((at) =>
    Date.parse(String(at?.timestampValue)),
  );
  const rest = Math.ceil((LIMIT.burst * LIMIT.per) / LIMIT.limit);
  return Number(time) - Number(last) < rest
    ? `was paid by a slot that had rested for ${Number(time) - Number(last)} ms`
    : undefined;
}

export function slotsOf(limit: Fields | undefined): Fields {
  return (limit?.slots?.mapValue as { fields?: Fields } | undefined)?.fields ?? {};
}

function faultOfEntry(
  entry: Fields,
  once: string,
  isTake: boolean,
  mayBeDirect: boolean,
  span: Span,
): string | undefined {
  if (Object.keys(entry).sort().join() !== "at,by,once,shard") return `has the fields ${Object.keys(entry)}`;
  if (textOf(entry.once) !== once) return `has once = ${JSON.stringify(entry.once)}`;
  const isAllowed = isTake ? /^-([1-9]|10)$/.test(String(entry.by?.integerValue)) : numberOf(entry.by) === 1;
  if (!isAllowed) return `counts ${JSON.stringify(entry.by)}`;
  if (![...SHARD_IDS, ...(mayBeDirect ? ["direct"] : [])].includes(textOf(entry.shard) ?? ""))
    return `is on ${JSON.stringify(entry.shard)}`;
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

/** Each write appends a nonce. All others stay, or are removed with their window, two minutes after its last write. */
function faultOfMarks(before: Fields, after: Fields, hits: number, span: Span): string | undefined {
  const lost = Object.keys(before).filter((name) => !(name in after));
  const young = lost.filter(
    (name) => span.to - Date.parse(String(fieldsOfMap(before[name]).at?.timestampValue)) < 120_000,
  );
  if (young.length > 0) return `lost the young windows ${young}`;
  const changed = Object.keys(after).filter((name) => !isEqual(before[name], after[name]));
  if (changed.length < 1 || changed.length > hits) return `${hits} writes changed ${changed.length} windows`;
  for (const name of changed) {
    if (!/^[0-4]$/.test(name)) return `has a window ${name}`;
    const fault = faultOfWindow(name, before[name], after[name], hits, span);
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
