/** The storage size of documents, as Firestore reckons it: https://firebase.google.com/docs/firestore/storage-size. */

/** A stored value, as the SDKs show it: the point `latitude`, `longitude`; a reference by its `path`; a vector by `toArray`. */
export type StoredValue =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | { toMillis(): number }
  | { readonly latitude: number; readonly longitude: number }
  | { readonly path: string; readonly firestore: unknown }
  | { toArray(): number[] }
  | readonly StoredValue[]
  | StoredFields;
export interface StoredFields {
  readonly [field: string]: StoredValue;
}

const NAME_OVERHEAD = 16;
const MAP_OVERHEAD = 32;

/** The size of a document with its name, in bytes. Integer ids, which no client library makes, are reckoned as text. */
export function documentBytes(path: string, fields: StoredFields): number {
  return nameBytes(path) + valueBytes(fields);
}

/** @param overhead  bytes that each value takes beside */
export function valueBytes(value: StoredValue, overhead = 0): number {
  if (typeof value === "string") return overhead + textBytes(value);
  if (typeof value !== "object") return overhead + (typeof value === "number" ? 8 : 1);
  if (value === null) return overhead + 1;
  if (value instanceof Uint8Array) return overhead + value.length;
  if (Array.isArray(value)) return value.reduce((sum, one) => sum + valueBytes(one, overhead), overhead);
  if (has(value, "toMillis")) return overhead + 8;
  if (has(value, "toArray")) return overhead + 8 * value.toArray().length;
  if (isPoint(value)) return overhead + 16;
  if (isReference(value)) return overhead + nameBytes(value.path);
  let bytes = overhead + MAP_OVERHEAD;
  for (const [name, inner] of Object.entries(value as StoredFields)) {
    bytes += textBytes(name) + valueBytes(inner, overhead);
  }
  return bytes;
}

function has<Method extends string>(value: object, method: Method): value is { [name in Method]: () => number[] } {
  return method in value && typeof value[method as keyof typeof value] === "function";
}

/** The SDKs' points and references are objects of a class; a map with the same fields is a plain one. */
const isPlain = (value: object) => [Object.prototype, null].includes(Object.getPrototypeOf(value));
const isPoint = (value: object) => !isPlain(value) && "latitude" in value && "longitude" in value;
const isReference = (value: object): value is { path: string } => !isPlain(value) && "path" in value;

function nameBytes(path: string): number {
  return path.split("/").reduce((sum, id) => sum + textBytes(id), NAME_OVERHEAD);
}

/** UTF-8, which ends with a zero. */
function textBytes(text: string): number {
  let bytes = 1;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x1_0000 ? 3 : 4;
  }
  return bytes;
}
