/**
 * How large documents are after each write that passes a proxy, without a read: the writes are applied here, too. Only sizes matter, so
 * every number is 0 and every timestamp the same. A document that was first written past the proxies seems smaller than it is.
 */
import { documentBytes, type StoredFields, type StoredValue } from "../costs/src/index.ts";

/** A value of Firestore's protocol (https://cloud.google.com/firestore/docs/reference/rpc/google.firestore.v1#value). */
export interface ProtocolValue {
  /** The field that is set. */
  readonly valueType?: string;
  readonly stringValue?: string;
  readonly referenceValue?: string;
  readonly bytesValue?: Uint8Array;
  readonly arrayValue?: { readonly values?: readonly ProtocolValue[] };
  readonly mapValue?: { readonly fields?: ProtocolFields };
}
type ProtocolFields = Readonly<Record<string, ProtocolValue>>;

export interface ProtocolDocument {
  readonly name: string;
  readonly fields?: ProtocolFields;
}

interface Transform {
  readonly fieldPath: string;
  readonly appendMissingElements?: { readonly values?: readonly ProtocolValue[] } | null;
  readonly removeAllFromArray?: { readonly values?: readonly ProtocolValue[] } | null;
  readonly setToServerValue?: unknown;
}

export interface ProtocolWrite {
  readonly update?: ProtocolDocument | null;
  readonly updateMask?: { readonly fieldPaths?: readonly string[] } | null;
  readonly updateTransforms?: readonly Transform[];
  readonly delete?: string | null;
}

const TIMESTAMP = { toMillis: () => 0 };

type Fields = Record<string, StoredValue>;

export class FollowedDocuments {
  readonly #fields = new Map<string, Fields>();

  /** @returns the size of the document after the write; of a deleted one, before it; 0 of one that is only verified */
  apply({ update, updateMask, updateTransforms = [], delete: deleted }: ProtocolWrite): number {
    if (deleted) {
      const bytes = this.bytesOf(deleted) ?? 0;
      this.#fields.delete(deleted);
      return bytes;
    }
    if (!update) return 0;
    const written = storedFields(update.fields);
    const before = updateMask ? (this.#fields.get(update.name) ?? {}) : {};
    const fields = updateMask ? before : written;
    for (const path of updateMask?.fieldPaths ?? [])
      place(fields, segmentsOf(path), valueAt(written, segmentsOf(path)));
    for (const transform of updateTransforms) {
      const path = segmentsOf(transform.fieldPath);
      place(fields, path, transformed(valueAt(fields, path), transform));
    }
    this.#fields.set(update.name, fields);
    return bytesOf(update.name, fields);
  }

  bytesOf(name: string): number | undefined {
    const fields = this.#fields.get(name);
    return fields && bytesOf(name, fields);
  }

  /** All documents directly in a collection. */
  bytesIn(collection: string): number {
    let bytes = 0;
    for (const [name, fields] of this.#fields) {
      if (name.startsWith(`${collection}/`) && !name.slice(collection.length + 1).includes("/"))
        bytes += bytesOf(name, fields);
    }
    return bytes;
  }
}

/** The size of a document that a response has. */
export function receivedBytes({ name, fields }: ProtocolDocument): number {
  return bytesOf(name, storedFields(fields));
}

function bytesOf(name: string, fields: StoredFields): number {
  return documentBytes(name.replace(/^projects\/[^/]*\/databases\/[^/]*\/documents\//, ""), fields);
}

function storedFields(fields: ProtocolFields = {}): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, stored(value)]));
}

function stored(value: ProtocolValue): StoredValue {
  switch (value.valueType) {
    case "nullValue":
      return null;
    case "booleanValue":
      return true;
    case "timestampValue":
      return TIMESTAMP;
    case "stringValue":
      return value.stringValue as string;
    case "bytesValue":
      return value.bytesValue as Uint8Array;
    case "arrayValue":
      return (value.arrayValue?.values ?? []).map(stored);
    case "mapValue":
      return storedFields(value.mapValue?.fields);
    case "referenceValue":
      // Longer than its name by the project and the database.
      return value.referenceValue as string;
    default:
      return 0;
  }
}

function transformed(before: StoredValue | undefined, transform: Transform): StoredValue {
  const { appendMissingElements: added, removeAllFromArray: removed, setToServerValue } = transform;
  if (setToServerValue) return TIMESTAMP;
  if (!added && !removed) return 0;
  const list = Array.isArray(before) ? before : [];
  const has = (all: readonly StoredValue[], one: StoredValue) => all.some((other) => textOf(other) === textOf(one));
  if (removed) return list.filter((one) => !has((removed.values ?? []).map(stored), one));
  return [...list, ...(added?.values ?? []).map(stored).filter((one) => !has(list, one))];
}

function textOf(value: StoredValue): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : JSON.stringify(value);
}

/** `marks.\`0\`.nonces` has three. */
function segmentsOf(path: string): string[] {
  const segments = path.match(/`(?:\\.|[^`\\])*`|[^.]+/g) ?? [];
  return segments.map((one) => (one.startsWith("`") ? one.slice(1, -1).replace(/\\(.)/g, "$1") : one));
}

const isMap = (value: unknown): value is Fields =>
  typeof value === "object" &&
  value !== null &&
  Object.getPrototypeOf(value) === Object.prototype &&
  value !== TIMESTAMP;

function valueAt(fields: Fields, path: readonly string[]): StoredValue | undefined {
  return path.reduce<unknown>((inner, name) => (isMap(inner) ? inner[name] : undefined), fields) as
    | StoredValue
    | undefined;
}

/** @param value  `undefined` removes the field */
function place(fields: Fields, [name = "", ...rest]: readonly string[], value: StoredValue | undefined): void {
  if (rest.length === 0 && value === undefined) delete fields[name];
  else if (rest.length === 0) fields[name] = value as StoredValue;
  else {
    const before = fields[name];
    if (!isMap(before) && value === undefined) return;
    const inner = isMap(before) ? before : {};
    fields[name] = inner;
    place(inner, rest, value);
  }
}
