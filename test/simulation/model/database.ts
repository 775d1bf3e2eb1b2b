/**
 * Firestore's server, as far as Tally uses it: documents with versions, atomic commits with preconditions and transforms,
 * and reads at an instant. Pure and synchronous. `test/simulation/emulator` compares it with the emulator.
 */
import { sizeRefusal } from "../../../testkit/production/sizes.ts";
import {
  type Fields,
  isEqual,
  isMap,
  type Micros,
  mergeFields,
  setFields,
  Timestamp,
  transformsIn,
  updateFields,
  type Value,
  type Written,
} from "./values.ts";

/** Status codes of gRPC (google.rpc.Code). */
export const Code = {
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  UNAVAILABLE: 14,
} as const;

export class Refused extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(`${code} ${message}`);
    this.code = code;
  }
}

/** One version of a document; without `fields` it does not exist. */
export interface Version {
  readonly path: string;
  readonly fields: Fields | undefined;
  readonly updateTime: Micros;
}

export type Data = { readonly [field: string]: Written };

export interface Write {
  readonly path: string;
  /**
   * `create` fails if the document exists. `update` fails if it does not, and takes field paths. `merge` merges maps field
   * by field; `mergeFields` replaces whole fields.
   */
  readonly kind: "create" | "set" | "merge" | "mergeFields" | "update" | "delete";
  readonly data?: Data;
  /** Precondition: the update time that the document must have. */
  readonly lastUpdateTime?: Micros | undefined;
}

/** The change of one document. */
export interface Change {
  readonly before: Version;
  readonly after: Version;
}

export interface Filter {
  /** With {@link NAME}, `value` is a path. */
  readonly field: string;
  readonly op: "==" | "<" | "<=" | ">" | ">=" | "in";
  readonly value: Value;
}

/** The pseudo field by which queries refer to a document's name. */
export const NAME = "__name__";

export interface Order {
  readonly field: string;
  readonly isDescending: boolean;
}

export interface QueryPlan {
  /** Path of the collection; with `group`, its id. */
  readonly collection: string;
  readonly group?: boolean;
  readonly filters: readonly Filter[];
  /** The explicit orders. Compared fields, and then names, follow implicitly. */
  readonly orders?: readonly Order[];
  /** Fields of the index that the query reads: a document without one of them is not found. */
  readonly needs?: readonly string[];
  readonly offset?: number;
  readonly limit?: number;
  /** Where to start: values of the ordered fields, or of the first of them. */
  readonly after?: readonly Value[];
}

/** All orders of a query, names last. */
export function ordersOf({ filters, orders = [] }: QueryPlan): readonly Order[] {
  const all = [...orders];
  const isDescending = orders.at(-1)?.isDescending ?? false;
  const compared = filters.filter(({ op }) => op !== "==" && op !== "in").map(({ field }) => field);
  for (const field of [...compared.sort(), NAME]) {
    if (!all.some((order) => order.field === field || order.field === NAME)) all.push({ field, isDescending });
  }
  return all;
}

export class Database {
  readonly #versions = new Map<string, Version[]>();
  readonly #collections = new Map<string, string[]>();
  #lastCommit: Micros = 0;

  /** The newest version of a document, or the one at an instant. */
  get(path: string, at: Micros = Number.POSITIVE_INFINITY): Version {
    const versions = this.#versions.get(path);
    for (let i = (versions?.length ?? 0) - 1; i >= 0; i--) {
      const version = versions?.[i] as Version;
      if (version.updateTime <= at) return version;
    }
    return { path, fields: undefined, updateTime: 0 };
  }

  /** When the document of a version was created. */
  createdAt({ path, updateTime }: Version): Micros {
    const versions = (this.#versions.get(path) ?? []).filter((one) => one.updateTime <= updateTime);
    const deleted = versions.findLastIndex(({ fields }) => !fields);
    return (versions[deleted + 1] as Version).updateTime;
  }

  /** An instant to read at: no commit so far is later, and each later commit gets a later time. */
  readTime(now: Micros): Micros {
    this.#lastCommit = Math.max(now, this.#lastCommit);
    return this.#lastCommit;
  }

  query(plan: QueryPlan, at?: Micros): Version[] {
    const { collection, group, filters, needs = [], offset = 0, limit = Number.POSITIVE_INFINITY, after } = plan;
    const collections = group
      ? [...this.#collections.keys()].filter((path) => path === collection || path.endsWith(`/${collection}`))
      : [collection];
    const orders = ordersOf(plan);
    const mustHave = [...orders.map(({ field }) => field), ...needs].filter((field) => field !== NAME);
    const found = collections
      .flatMap((path) => this.#collections.get(path) ?? [])
      .map((path) => this.get(path, at))
      .filter(({ fields }) => fields && mustHave.every((field) => fieldOf(fields, field) !== undefined))
      .filter((version) => filters.every((filter) => matches(version, filter)))
      .sort((a, b) => inOrder(orders, a, (field) => fieldOrName(b, field)))
      .filter((version) => !after || inOrder(orders.slice(0, after.length), version, (_, i) => after[i] as Value) > 0);
    return found.slice(offset, offset + limit);
  }

  /** The documents below a path, at any depth. */
  below(path: string): string[] {
    const documents = [...this.#collections].filter(([collection]) => `${collection}/`.startsWith(`${path}/`));
    return documents.flatMap(([, paths]) => paths).filter((document) => this.get(document).fields);
  }

  /**
   * Commits all of the writes or none. A document that does not change keeps its update time.
   *
   * @param authorize  the rules: throws if a write is not allowed, even one that changes nothing
   * @throws Refused
   */
  commit(
    writes: readonly Write[],
    now: Micros,
    authorize?: (changes: readonly Change[]) => void,
  ): { time: Micros; changes: Change[]; updateTimes: Micros[] } {
    const time = Math.max(now, this.#lastCommit + 1);
    const staged = new Map<string, Fields | undefined>();
    const transforms = new Map<string, number>();
    for (const write of writes) {
      const before = this.get(write.path);
      const fields = staged.has(write.path) ? staged.get(write.path) : before.fields;
      // Rules come before preconditions, and Tally's rules reject every update of a missing document.
      if (authorize && write.kind === "update" && !fields) throw new Refused(Code.PERMISSION_DENIED, write.path);
      check(write, fields, before.updateTime);
      staged.set(write.path, apply(write, fields, time));
      transforms.set(write.path, (transforms.get(write.path) ?? 0) + transformsIn(write.data));
    }
    const written = [...staged].map(([path, fields]) => {
      return { before: this.get(path), after: { path, fields, updateTime: time } };
    });
    authorize?.(written);
    const tooLarge = sizeRefusal(
      written.map(({ before, after: { path, fields = before.fields } }) => {
        return { path, fields, transforms: transforms.get(path) ?? 0 };
      }),
    );
    if (tooLarge) throw new Refused(Code.INVALID_ARGUMENT, tooLarge);
    const changes = written.filter(({ before, after }) => !isEqual(before.fields, after.fields));
    this.#lastCommit = time;
    for (const { after } of changes) this.#keep(after);
    return { time, changes, updateTimes: writes.map(({ path }) => this.get(path).updateTime || time) };
  }

  #keep(version: Version): void {
    const { path } = version;
    const known = this.#versions.get(path);
    if (known) {
      known.push(version);
      return;
    }
    this.#versions.set(path, [version]);
    const collection = path.slice(0, path.lastIndexOf("/"));
    const documents = this.#collections.get(collection);
    if (documents) documents.push(path);
    else this.#collections.set(collection, [path]);
  }
}

function check({ kind, path, lastUpdateTime }: Write, fields: Fields | undefined, updateTime: Micros): void {
  if (kind === "create" && fields) throw new Refused(Code.ALREADY_EXISTS, `already exists: ${path}`);
  if (lastUpdateTime === undefined) {
    if (kind === "update" && !fields) throw new Refused(Code.NOT_FOUND, `no such document: ${path}`);
  } else if (!fields || updateTime !== lastUpdateTime) {
    throw new Refused(Code.FAILED_PRECONDITION, `has changed: ${path}`);
  }
}

export function apply({ kind, data = {} }: Write, before: Fields | undefined, at: Micros): Fields | undefined {
  if (kind === "delete") return undefined;
  if (kind === "merge") return mergeFields(before ?? {}, data, at);
  // Transforms in a replaced document start without a value.
  if (kind === "create" || kind === "set") return setFields({}, data, at);
  return updateFields(before ?? {}, data, kind === "update" ? (field) => field.split(".") : (field) => [field], at);
}

/** The value at a path such as `a.b`. */
export function fieldOf(fields: Fields | undefined, path: string): Value | undefined {
  if (!path.includes(".")) return fields?.[path];
  return path.split(".").reduce<Value | undefined>((value, name) => {
    return isMap(value) ? ((value as Fields)[name] as Value | undefined) : undefined;
  }, fields);
}

/** The value of a field in a query. */
export function fieldOrName({ path, fields }: Version, field: string): Value | undefined {
  return field === NAME ? path : fieldOf(fields, field);
}

function inOrder(
  orders: readonly Order[],
  version: Version,
  other: (field: string, index: number) => Value | undefined,
): number {
  for (const [i, { field, isDescending }] of orders.entries()) {
    const order = compare(fieldOrName(version, field), other(field, i));
    if (order !== 0) return isDescending ? -order : order;
  }
  return 0;
}

function matches(version: Version, { field, op, value }: Filter): boolean {
  const actual = fieldOrName(version, field);
  if (actual === undefined) return false;
  if (op === "==") return isEqual(actual, value);
  if (op === "in") return (value as readonly Value[]).some((one) => isEqual(actual, one));
  if (rank(actual) !== rank(value)) return false;
  const order = compare(actual, value);
  if (op === "<") return order < 0;
  if (op === "<=") return order <= 0;
  return op === ">" ? order > 0 : order >= 0;
}

/** The types that Tally orders by, in Firestore's order. Values of different types do not compare. */
const TYPE_ORDER = ["number", "instant", "string", "array"];

function rank(value: Value | undefined): number {
  return TYPE_ORDER.indexOf(value instanceof Timestamp ? "instant" : Array.isArray(value) ? "array" : typeof value);
}

function compare(a: Value | undefined, b: Value | undefined): number {
  const difference = rank(a) - rank(b);
  if (difference !== 0) return difference;
  if (Array.isArray(a) && Array.isArray(b)) {
    const orders = a.slice(0, b.length).map((one, i) => compare(one, b[i]));
    return orders.find((order) => order !== 0) ?? a.length - b.length;
  }
  const left = a instanceof Timestamp ? a.toMicros() : a;
  const right = b instanceof Timestamp ? b.toMicros() : b;
  if (left === right) return 0;
  return (left as number) < (right as number) ? -1 : 1;
}
