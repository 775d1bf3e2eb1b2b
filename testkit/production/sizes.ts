/**
 * How large documents and commits may be (https://firebase.google.com/docs/firestore/quotas), and how large they are
 * (https://firebase.google.com/docs/firestore/storage-size).
 */

const MIB = 1_048_576;
const MAX_DOCUMENT_BYTES = MIB;
const MAX_COMMIT_BYTES = 10 * MIB;
/** Field transforms of a document in a commit. */
const MAX_TRANSFORMS = 500;

/** A stored value, as the SDKs show it. */
type Stored = null | boolean | number | string | Uint8Array | { toMillis(): number } | readonly Stored[] | StoredFields;
export interface StoredFields {
  readonly [field: string]: Stored;
}

/** A document of a commit, as it will be. */
export interface WrittenDocument {
  readonly path: string;
  /** For a deletion, what it deletes, which counts as well. */
  readonly fields: StoredFields | undefined;
  readonly transforms: number;
}

/** Why a commit is refused with INVALID_ARGUMENT for its size; `undefined` if it is not. */
export function sizeRefusal(documents: readonly WrittenDocument[]): string | undefined {
  let commit = 0;
  for (const { path, fields = {}, transforms } of documents) {
    const bytes = documentBytes(path, fields);
    if (bytes > MAX_DOCUMENT_BYTES) return `${path} has ${bytes} bytes, more than ${MAX_DOCUMENT_BYTES}`;
    if (transforms > MAX_TRANSFORMS) return `${path} has ${transforms} transforms, more than ${MAX_TRANSFORMS}`;
    commit += bytes;
  }
  return commit > MAX_COMMIT_BYTES ? "Transaction too big. Decrease transaction size." : undefined;
}

/** The storage size of a document. */
export function documentBytes(path: string, fields: StoredFields): number {
  return path.split("/").reduce((sum, id) => sum + textBytes(id), 16) + valueBytes(fields, 0);
}

/** The size of a document's fields in an event, a protobuf message: each value has a tag and a length twice, five bytes in all. */
export function messageBytes(fields: StoredFields): number {
  return valueBytes(fields, 5);
}

function valueBytes(value: Stored, overhead: number): number {
  if (typeof value === "string") return overhead + textBytes(value);
  if (typeof value !== "object") return overhead + (typeof value === "number" ? 8 : 1);
  if (value === null) return overhead + 1;
  if (value instanceof Uint8Array) return overhead + value.length;
  if (Array.isArray(value)) return value.reduce((sum, one) => sum + valueBytes(one, overhead), overhead);
  if ("toMillis" in value && typeof value.toMillis === "function") return overhead + 8;
  let bytes = overhead + 32;
  for (const [name, inner] of Object.entries(value as StoredFields)) {
    bytes += textBytes(name) + valueBytes(inner, overhead);
  }
  return bytes;
}

/** Text ends with a zero. */
function textBytes(text: string): number {
  return Buffer.byteLength(text) + 1;
}
