/** How large documents and commits may be (https://firebase.google.com/docs/firestore/quotas). */
import { documentBytes, type StoredFields, valueBytes } from "../../costs/src/index.ts";

const MIB = 1_048_576;
const MAX_DOCUMENT_BYTES = MIB;
const MAX_COMMIT_BYTES = 10 * MIB;
/** Field transforms of a document in a commit. */
const MAX_TRANSFORMS = 500;

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

/** The size of a document's fields in an event, a protobuf message: each value has a tag and a length twice, five bytes in all. */
export function messageBytes(fields: StoredFields): number {
  return valueBytes(fields, 5);
}
