/**
 * Firestore as the server sees it, as far as Tally uses it: documents with versions, atomic commits with preconditions
 * and transforms, and reads at one instant. Pure and synchronous; `test/model.test.ts` holds it against the emulator.
 */
import {
  type Fields,
  isEqual,
  isMap,
  type Micros,
  mergeFields,
  setFields,
  Timestamp,
  updateField,
  type Value,
  type Written,
} from "./values.ts";

/** Status codes of gRPC (google.rpc.Code). */
export const Code = {
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
   * `update` takes field paths and wants the document to exist, `create` wants it not to. `merge` merges maps, field by
   * field; `mergeFields` replaces fields as a whole.
   */
  readonly kind: "create" | "set" | "merge" | "mergeFields" | "update" | "delete";
  readonly data?: Data;
  /** The version it must still be of. */
  readonly lastUpdateTime?: Micros | undefined;
}

/** One document changed. */
export interface Change {
  readonly before: Version;
  readonly after: Version;
}

export interface Filter {
  readonly field: string;
  readonly op: "==" | "<" | "<=" | ">" | ">=";
  readonly value: Value;
}

export interface QueryPlan {
  /** Path of the collection; with `group`, its id. */
  readonly collection: string;
  readonly group?: boolean;
  readonly filters: readonly Filter[];
  readonly limit?: number;
  /** The path of the document after which to start, in the order of names. */
  readonly after?: string;
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

  /** An instant to read at: not before any commit, and no later commit gets it. */
  readTime(now: Micros): Micros {
    this.#lastCommit = Math.max(now, this.#lastCommit);
    return this.#lastCommit;
  }

  query(plan: QueryPlan, at?: Micros): Version[] {
    const { collection, group, filters, limit, after } = plan;
    const collections = group
      ? [...this.#collections.keys()].filter((path) => path === collection || path.endsWith(`/${collection}`))
      : [collection];
    const ordered = filters.find(({ op }) => op !== "==")?.field;
    const found = collections
      .flatMap((path) => this.#collections.get(path) ?? [])
      .map((path) => this.get(path, at))
      .filter(({ fields }) => fields && filters.every((filter) => matches(fields, filter)))
      .sort((a, b) => {
        const inOrder = ordered === undefined ? 0 : compare(fieldOf(a.fields, ordered), fieldOf(b.fields, ordered));
        return inOrder || (a.path < b.path ? -1 : 1);
      });
    const start = after === undefined ? 0 : found.findIndex(({ path }) => path > after);
    return start < 0 ? [] : found.slice(start, limit === undefined ? undefined : start + limit);
  }

  /**
   * All of the writes, or none. A document that stays as it is keeps its update time.
   *
   * @param authorize  the rules: throws if the changes are not allowed
   * @throws Refused
   */
  commit(
    writes: readonly Write[],
    now: Micros,
    authorize?: (changes: readonly Change[]) => void,
  ): { time: Micros; changes: Change[]; updateTimes: Micros[] } {
    const time = Math.max(now, this.#lastCommit + 1);
    const staged = new Map<string, Fields | undefined>();
    for (const write of writes) {
      const before = this.get(write.path);
      const fields = staged.has(write.path) ? staged.get(write.path) : before.fields;
      check(write, fields, before.updateTime);
      staged.set(write.path, apply(write, fields, time));
    }
    const changes = [...staged]
      .map(([path, fields]) => ({ before: this.get(path), after: { path, fields, updateTime: time } }))
      .filter(({ before, after }) => !isEqual(before.fields, after.fields));
    authorize?.(changes);
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
  if (kind === "create" && fields) throw new Refused(Code.ALREADY_EXISTS, `exists already: ${path}`);
  if (lastUpdateTime === undefined) {
    if (kind === "update" && !fields) throw new Refused(Code.NOT_FOUND, `no such document: ${path}`);
  } else if (!fields || updateTime !== lastUpdateTime) {
    throw new Refused(Code.FAILED_PRECONDITION, `has changed: ${path}`);
  }
}

export function apply({ kind, data = {} }: Write, before: Fields | undefined, at: Micros): Fields | undefined {
  if (kind === "delete") return undefined;
  if (kind === "merge") return mergeFields(before ?? {}, data, at);
  // A transform of a document that is replaced starts from nothing.
  if (kind === "create" || kind === "set") return setFields({}, data, at);
  const pathOf = (field: string) => (kind === "update" ? field.split(".") : [field]);
  return Object.entries(data).reduce(
    (fields, [field, value]) => updateField(fields, pathOf(field), value, at),
    before ?? {},
  );
}

/** The value at a path such as `a.b`. */
export function fieldOf(fields: Fields | undefined, path: string): Value | undefined {
  if (!path.includes(".")) return fields?.[path];
  return path.split(".").reduce<Value | undefined>((value, name) => {
    return isMap(value) ? ((value as Fields)[name] as Value | undefined) : undefined;
  }, fields);
}

function matches(fields: Fields, { field, op, value }: Filter): boolean {
  const actual = fieldOf(fields, field);
  if (actual === undefined) return false;
  if (op === "==") return isEqual(actual, value);
  if (rank(actual) !== rank(value)) return false;
  const order = compare(actual, value);
  if (op === "<") return order < 0;
  if (op === "<=") return order <= 0;
  return op === ">" ? order > 0 : order >= 0;
}

/** Numbers, instants and strings, the kinds that Tally orders by. Kinds do not compare with each other. */
function rank(value: Value | undefined): string {
  return value instanceof Timestamp ? "instant" : typeof value;
}

function compare(a: Value | undefined, b: Value | undefined): number {
  const [left, right] = [a, b].map((value) => (value instanceof Timestamp ? value.toMicros() : value));
  if (left === right) return 0;
  return (left as number) < (right as number) ? -1 : 1;
}
