/**
 * The source of truth of a counter, as plain data: the documents it should count, or whose field it should sum, or its own
 * entries. `reconcileCounter` compares the counter with it.
 *
 * The source is stored in the counter document, and checked when it is written and when it is read. An unknown key is
 * refused: a misspelt `where` would filter nothing, and a reconcile would correct the counter to a wrong number.
 */
import { CounterError } from "./errors.ts";
import { isDocumentId } from "./validation.ts";

/** A comparison operator of a Firestore query. */
export type CounterSourceOperator =
  | "<"
  | "<="
  | "=="
  | "!="
  | ">="
  | ">"
  | "in"
  | "not-in"
  | "array-contains"
  | "array-contains-any";

/** The operators that compare with a list, and its maximum length (https://firebase.google.com/docs/firestore/query-data/queries). */
const MOST_VALUES: Partial<Record<CounterSourceOperator, number>> = { in: 30, "not-in": 10, "array-contains-any": 30 };

const OPERATORS = ["<", "<=", "==", "!=", ">=", ">", "in", "not-in", "array-contains", "array-contains-any"];

/** A condition of the documents that count, as the arguments of Firestore's `where`. */
export interface CounterSourceFilter {
  /** Path of a field, such as `"state"` or `"author.verified"`. */
  readonly field: string;
  /** How the field is compared with the value. */
  readonly op: CounterSourceOperator;
  /** Any value that a field can hold; a list for `in`, `not-in` and `array-contains-any`. */
  readonly value: unknown;
}

/** Which documents of a collection or collection group count, and how. */
export interface CounterSourceSelection {
  /** Conditions that a document must meet to count; without it, all documents count. */
  readonly where?: readonly CounterSourceFilter[];
  /** The numeric field whose values are summed; without it, documents are counted. */
  readonly sum?: string;
}

/** What a counter should equal: its own entries, or the documents of a collection or a collection group. */
export type CounterSource =
  | { readonly entries: true }
  | ({ readonly collection: string } & CounterSourceSelection)
  | ({ readonly collectionGroup: string } & CounterSourceSelection);

/** When the functions reconcile a counter, and from which drift on they raise an alarm. */
export interface Schedule {
  /** Seconds between two scheduled reconciles; without it, there are none. */
  readonly everySeconds?: number;
  /** A larger drift, up or down, raises an alarm. */
  readonly alarmBeyond: number;
}

/** `counters/{id}/tallyCorrections/{id}`: what one reconcile found and changed. Created, never updated. */
export interface CorrectionDocument<Timestamp> {
  /** The source that the counter was compared with. */
  source: CounterSource;
  /** The value of the source at `asOf`. */
  expected: number;
  /** The sum of the shards at `asOf`. */
  found: number;
  /** The amount added to `shards/base`: `expected − found`. */
  by: number;
  /** The instant at which source and shards were read. */
  asOf: Timestamp;
  /** Server time of the correction. */
  at: Timestamp;
}

/** The subcollection of a counter that holds its corrections. */
export const CORRECTIONS = "tallyCorrections";

/**
 * Checks a source and returns it without empty parts.
 *
 * @throws CounterError `counter/invalid-source`
 */
export function validSource(source: unknown): CounterSource {
  if (!isMap(source)) throw invalid("source", source, FORMS);
  const { entries, collection, collectionGroup } = source;
  if ([entries, collection, collectionGroup].filter((kind) => kind !== undefined).length !== 1) {
    throw invalid("source", source, FORMS);
  }
  if (entries !== undefined) {
    onlyKeys("source", source, ["entries"]);
    if (entries !== true) throw invalid("entries", entries, "true");
    return { entries };
  }
  onlyKeys("source", source, ["collection", "collectionGroup", "where", "sum"]);
  const selection = validSelection(source);
  if (collection !== undefined) {
    if (!isCollectionPath(collection)) {
      throw invalid("collection", collection, 'the path of a collection, such as "posts" or "posts/42/comments"');
    }
    return { collection, ...selection };
  }
  if (!isDocumentId(collectionGroup)) {
    throw invalid("collectionGroup", collectionGroup, 'the last part of the collections\' paths, such as "comments"');
  }
  return { collectionGroup, ...selection };
}

/**
 * Reads the field `source` of a counter document.
 *
 * @throws CounterError `counter/invalid-source`
 */
export function parseSource(stored: unknown): { source: CounterSource; schedule: Schedule } {
  if (!isMap(stored)) throw invalid("source", stored, FORMS);
  const { everySeconds, alarmBeyond, ...source } = stored;
  return { source: validSource(source), schedule: validSchedule(everySeconds, alarmBeyond) };
}

/** The fewest seconds between two scheduled reconciles: the sweep, which runs them, is not scheduled more often. */
const MIN_EVERY_SECONDS = 300;
const MAX_EVERY_SECONDS = 366 * 86_400;

/** @throws CounterError `counter/invalid-source` */
export function validSchedule(everySeconds: unknown, alarmBeyond: unknown): Schedule {
  if (!isNumber(alarmBeyond) || alarmBeyond < 0) throw invalid("alarmBeyond", alarmBeyond, "a number, 0 or larger");
  if (everySeconds === undefined) return { alarmBeyond };
  if (!isNumber(everySeconds) || everySeconds < MIN_EVERY_SECONDS || everySeconds > MAX_EVERY_SECONDS) {
    const given = isNumber(everySeconds) ? `${everySeconds} seconds` : everySeconds;
    throw invalid("every", given, "milliseconds, from 300_000 (five minutes) to 366 days");
  }
  return { everySeconds, alarmBeyond };
}

/** A part that is present and `undefined` is refused: without it, other documents would count. */
function validSelection(source: Record<string, unknown>): CounterSourceSelection {
  const where = "where" in source ? source.where : [];
  if (!Array.isArray(where)) throw invalid("where", where, "a list of { field, op, value }");
  const filters = where.map(validFilter);
  const selected = filters.length > 0 ? { where: filters } : {};
  if (!("sum" in source)) return selected;
  const { sum } = source;
  if (!isFieldPath(sum)) throw invalid("sum", sum, FIELD);
  return { ...selected, sum };
}

function validFilter(filter: unknown): CounterSourceFilter {
  if (!isMap(filter)) throw invalid("a filter in where", filter, "{ field, op, value }");
  onlyKeys("a filter in where", filter, ["field", "op", "value"]);
  const { field, op, value } = filter;
  if (!isFieldPath(field)) throw invalid("field", field, FIELD);
  if (!isOperator(op)) throw invalid("op", op, `one of ${OPERATORS.join(" ")}`);
  const most = MOST_VALUES[op];
  if (most !== undefined && !(Array.isArray(value) && value.length > 0 && value.length <= most)) {
    throw invalid(`the value for ${op}`, value, `a list of 1 to ${most} values`);
  }
  if (value === undefined || typeof value === "function") {
    throw invalid("value", value, "what a field can hold, such as a string, a number, true or a Timestamp");
  }
  return { field, op, value };
}

const FORMS =
  '{ entries: true }, { collection: "posts" } or { collectionGroup: "comments" }; the last two may have where and sum';
const FIELD = 'the path of a field, such as "state" or "author.verified"';

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isOperator(op: unknown): op is CounterSourceOperator {
  return OPERATORS.includes(op as string);
}

function isCollectionPath(path: unknown): path is string {
  if (typeof path !== "string") return false;
  const parts = path.split("/");
  return parts.length % 2 === 1 && parts.every(isDocumentId);
}

/** Whether Firestore's SDKs accept a string as the path of a field. */
function isFieldPath(field: unknown): field is string {
  return typeof field === "string" && field.length <= 1_500 && /^[^.~*/[\]]+(\.[^.~*/[\]]+)*$/.test(field);
}

function onlyKeys(what: string, map: Record<string, unknown>, known: readonly string[]): void {
  const other = Object.keys(map).find((key) => !known.includes(key) && map[key] !== undefined);
  if (other !== undefined) throw invalid(`a key of ${what}`, other, known.join(", "));
}

/** The message shows simple values, shortened, and the keys of a map, because one of them may be wrong. */
function invalid(what: string, value: unknown, accepted: string): CounterError {
  const shown = isMap(value) ? Object.keys(value).join(", ") : Array.isArray(value) ? "a list" : String(value);
  return new CounterError("counter/invalid-source", `${what} is "${shown.slice(0, 60)}"; pass ${accepted}`);
}
