/** Preconditions on documents that were read. */
import type { DocumentData, DocumentSnapshot, Timestamp, WriteBatch } from "firebase-admin/firestore";

/** The precondition that a document that exists is as it was read. */
export function unchanged({ updateTime }: DocumentSnapshot): { readonly lastUpdateTime?: Timestamp } {
  return updateTime ? { lastUpdateTime: updateTime } : {};
}

/** Writes fields of a document, on the precondition that it is as it was read: also that there still is none. */
export function writeIfUnchanged(batch: WriteBatch, before: DocumentSnapshot, fields: DocumentData): void {
  if (before.exists) batch.update(before.ref, fields, unchanged(before));
  else batch.create(before.ref, fields);
}
