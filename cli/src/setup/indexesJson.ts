/** The file of Firestore's indexes: Tally's entries among those of the app. */
import { isDeepStrictEqual } from "node:util";
import { EDITIONS, type Edition } from "../../../functions/src/decisions.ts";
import { windowIndexes } from "../windowIndexes.ts";
import type { Values } from "./dotenv.ts";
import { append, readJson, removeIn } from "./json.ts";

interface Index {
  readonly collectionGroup: string;
  readonly queryScope?: string;
  readonly fields: readonly object[];
}

interface FieldOverride {
  readonly collectionGroup: string;
  readonly fieldPath: string;
  readonly ttl?: boolean;
}

/** As in https://firebase.google.com/docs/reference/firestore/indexes. */
interface Indexes {
  readonly indexes?: readonly Index[];
  readonly fieldOverrides?: readonly FieldOverride[];
}

const EMPTY = `${JSON.stringify({ indexes: [], fieldOverrides: [] }, null, 2)}\n`;

const isSameIndex = (one: Index, other: Index) =>
  one.collectionGroup === other.collectionGroup &&
  (one.queryScope ?? "COLLECTION") === (other.queryScope ?? "COLLECTION") &&
  isDeepStrictEqual(one.fields, other.fields);

const isSameField = (one: FieldOverride, other: FieldOverride) =>
  one.collectionGroup === other.collectionGroup && one.fieldPath === other.fieldPath;

/**
 * The sweep finds the counters to check by these indexes. Without them, each sweep scans all counters. An index entry costs write units only
 * when it changes, and these seldom change.
 */
const indexesOnEnterprise = (collectionGroup: string): Index[] =>
  ["phase", "nextReconcileAt"].map((fieldPath) => ({
    collectionGroup,
    queryScope: "COLLECTION",
    fields: [
      { fieldPath, order: "ASCENDING" },
      { fieldPath: "__name__", order: "ASCENDING" },
    ],
  }));

/**
 * Tally's entries. The Enterprise edition gets only the indexes of the sweep and the TTL policies: there no query needs an index, no field
 * has one by default, and an index entry that changes costs write units.
 *
 * @param collection  the collection of the counters, which is `counters` in the shipped file
 * @param parameters  of the functions: they decide about the indexes of windows
 */
export function indexesOf(
  tally: string,
  collection: string,
  edition: Edition,
  parameters: Values = {},
): Required<Indexes> {
  const all = JSON.parse(tally) as Required<Indexes>;
  const isWanted = ({ ttl }: FieldOverride) => edition === "standard" || ttl === true;
  const indexes =
    edition === "standard" ? [...all.indexes, ...windowIndexes(parameters)] : indexesOnEnterprise("counters");
  const fieldOverrides = all.fieldOverrides.filter(isWanted);
  const renamed = <T extends { readonly collectionGroup: string }>(one: T): T =>
    one.collectionGroup === "counters" ? { ...one, collectionGroup: collection } : one;
  return { indexes: indexes.map(renamed), fieldOverrides: fieldOverrides.map(renamed) };
}

/** All that `getTopCounters` needs without functions. */
export function leaderboardIndex(tally: string, collection: string, edition: Edition): Required<Indexes> {
  const { indexes } = indexesOf(tally, collection, edition);
  const isOfTotal = ({ fields }: Index) => fields.some((field) => isDeepStrictEqual(field, TOTAL));
  return { indexes: indexes.filter(isOfTotal), fieldOverrides: [] };
}

const TOTAL = { fieldPath: "total", order: "DESCENDING" };

/**
 * Adds what is missing. An override of the app for the same field stays.
 *
 * @returns the text, and the fields whose override differs from Tally's: the app must decide
 */
export function addIndexes(path: string, before: string | undefined, tally: Required<Indexes>) {
  let text = before?.trim() ? before : EMPTY;
  const present = readJson(path, text) as Indexes;
  for (const index of tally.indexes)
    if (!present.indexes?.some((one) => isSameIndex(one, index))) text = append(text, ["indexes"], index);
  const differing: string[] = [];
  for (const override of tally.fieldOverrides) {
    const found = present.fieldOverrides?.find((one) => isSameField(one, override));
    if (!found) text = append(text, ["fieldOverrides"], override);
    else if (!isDeepStrictEqual(found, override)) differing.push(`${override.collectionGroup}.${override.fieldPath}`);
  }
  return { text, differing };
}

/** Those of any project. */
const ALL_WINDOWS: Values = { WINDOWS: "*", REGIONS: "*" };

/**
 * Tally's entries for these collections, in both editions, without the wanted entries.
 *
 * @param knowsWindows  whether those of windows are among them
 */
export function staleIndexes(
  tally: string,
  collections: readonly string[],
  wanted: Required<Indexes>,
  knowsWindows = true,
): Required<Indexes> {
  const parameters = knowsWindows ? ALL_WINDOWS : {};
  const all = collections.flatMap((collection) =>
    EDITIONS.map((edition) => indexesOf(tally, collection, edition, parameters)),
  );
  return {
    indexes: all
      .flatMap(({ indexes }) => indexes)
      .filter((one) => !wanted.indexes.some((other) => isSameIndex(one, other))),
    fieldOverrides: all
      .flatMap(({ fieldOverrides }) => fieldOverrides)
      .filter((one) => !wanted.fieldOverrides.some((other) => isDeepStrictEqual(one, other))),
  };
}

/** Removes Tally's entries, unless the developer has edited them. */
export function removeIndexes(path: string, before: string, tally: Required<Indexes>): string {
  let text = before;
  const present = readJson(path, text) as Indexes;
  const without = (name: keyof Indexes, isTallys: (one: never) => boolean) => {
    const positions = (present[name] ?? []).flatMap((one, n) => (isTallys(one as never) ? [n] : []));
    for (const n of positions.toReversed()) text = removeIn(text, [name, n]);
  };
  without("indexes", (one: Index) => tally.indexes.some((index) => isSameIndex(one, index)));
  without("fieldOverrides", (one: FieldOverride) =>
    tally.fieldOverrides.some((other) => isDeepStrictEqual(one, other)),
  );
  return text;
}
