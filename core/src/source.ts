/**
 * The source of truth of a counter, as plain data: the documents that it should count, or whose field it should sum, or
 * its own entries. `reconcile` holds the counter against it.
 *
 * It is stored in the counter document and read back long after, so it is checked both times, and an unknown key is
 * refused: a filter under a misspelt name would be no filter, and the counter would be "repaired" to a wrong number.
 */
import { CounterError } from "./errors.ts";
import { isDocumentId } from "./validation.ts";

/** A comparison, as in a query of Firestore. */
export type FilterOperator =
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

/** Those that compare with a list, and how long it may be (https://firebase.google.com/docs/firestore/query-data/queries). */
const MOST_VALUES: Partial<Record<FilterOperator, number>> = { in: 30, "not-in": 10, "array-contains-any": 30 };

const OPERATORS = ["<", "<=", "==", "!=", ">=", ">", "in", "not-in", "array-contains", "array-contains-any"];

/** Which documents count: those whose `field` compares so with `value`. As the arguments of Firestore's `where`. */
export interface Filter {
  /** Path of a field, such as `"state"` or `"author.verified"`. */
  readonly field: string;
  /** How it is compared. */
  readonly op: FilterOperator;
  /** What it is compared with: anything a field can hold; a list for `in`, `not-in` and `array-contains-any`. */
  readonly value: unknown;
}

/** What of a collection or collection group counts. */
export interface SourceSelection {
  /** Which documents count; all, if absent. */
  readonly where?: readonly Filter[] | undefined;
  /** The numeric field whose values are summed; absent, documents are counted. */
  readonly sum?: string | undefined;
}

/** What a counter should be equal to: its own entries, the documents of a collection, or of a collection group. */
export type Source =
  | { readonly entries: true }
  | ({ readonly collection: string } & SourceSelection)
  | ({ readonly collectionGroup: string } & SourceSelection);

/** When a counter is reconciled by itself, and when that alarms. */
export interface Schedule {
  /** Seconds from one scheduled reconcile to the next; absent, there is none. */
  readonly everySeconds?: number;
  /** A drift beyond this, up or down, raises an alarm. */
  readonly alarmBeyond: number;
}

/** The field `source` of a counter document. */
export type StoredSource = Source & Schedule;

/** `counters/{id}/corrections/{id}`: what one reconcile found and did. Created, never updated. */
export interface CorrectionDocument<Timestamp> {
  /** What the counter was held against. */
  source: Source;
  /** What the source amounts to at `asOf`. */
  expected: number;
  /** What the shards amounted to at `asOf`. */
  found: number;
  /** What was added to `shards/base`: `expected − found`. */
  by: number;
  /** The instant of the snapshot. */
  asOf: Timestamp;
  /** Server time of the correction. */
  at: Timestamp;
}

/** The subcollection of a counter that holds its corrections. */
export const CORRECTIONS = "corrections";

/**
 * Checks a source and returns it with nothing but what it needs.
 *
 * @throws CounterError `counter/invalid-source`
 */
export function validSource(source: unknown): Source {
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
export function parseSource(stored: unknown): { source: Source; schedule: Schedule } {
  if (!isMap(stored)) throw invalid("source", stored, FORMS);
  const { everySeconds, alarmBeyond, ...source } = stored;
  return { source: validSource(source), schedule: validSchedule(everySeconds, alarmBeyond) };
}

/** Fewest seconds from one scheduled reconcile to the next: the sweep that makes them runs no more often. */
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

function validSelection({ where = [], sum }: { where?: unknown; sum?: unknown }): SourceSelection {
  if (!Array.isArray(where)) throw invalid("where", where, "a list of { field, op, value }");
  if (sum !== undefined && !isFieldPath(sum)) throw invalid("sum", sum, FIELD);
  const filters = where.map(validFilter);
  return { ...(filters.length > 0 && { where: filters }), ...(sum !== undefined && { sum }) };
}

function validFilter(filter: unknown): Filter {
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
  '{ entries: true }, { collection: "posts" } or { collectionGroup: "comments" }, the latter two with where and sum if you like';
const FIELD = 'the path of a field, such as "state" or "author.verified"';

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isOperator(op: unknown): op is FilterOperator {
  return OPERATORS.includes(op as string);
}

function isCollectionPath(path: unknown): path is string {
  if (typeof path !== "string") return false;
  const parts = path.split("/");
  return parts.length % 2 === 1 && parts.every(isDocumentId);
}

/** What Firestore's SDKs take as a path of fields in one string. */
function isFieldPath(field: unknown): field is string {
  return typeof field === "string" && field.length <= 1_500 && /^[^.~*/[\]]+(\.[^.~*/[\]]+)*$/.test(field);
}

function onlyKeys(what: string, map: Record<string, unknown>, known: readonly string[]): void {
  const other = Object.keys(map).find((key) => !known.includes(key) && map[key] !== undefined);
  if (other !== undefined) throw invalid(`a key of ${what}`, other, known.join(", "));
}

/** The message shows simple values, cut short; of a map its keys, since it may be one of them that is wrong. */
function invalid(what: string, value: unknown, accepted: string): CounterError {
  const shown = isMap(value) ? Object.keys(value).join(", ") : Array.isArray(value) ? "a list" : String(value);
  return new CounterError("counter/invalid-source", `${what} is "${shown.slice(0, 60)}"; pass ${accepted}`);
}
