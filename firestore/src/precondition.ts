/** Preconditions on documents that were read. */
import type { DocumentData, DocumentSnapshot, Timestamp, WriteBatch } from "firebase-admin/firestore";
import { isPreconditionFailure } from "../../core/src/index.ts";
import { COMMIT_TIMEOUT_MS, withTimeout } from "./retry.ts";

/** The precondition that a document that exists is as it was read. */
export function unchanged({ updateTime }: DocumentSnapshot): { readonly lastUpdateTime?: Timestamp } {
  return updateTime ? { lastUpdateTime: updateTime } : {};
}

/** Writes fields of a document, on the precondition that it is as it was read: also that there still is none. */
export function writeIfUnchanged(batch: WriteBatch, before: DocumentSnapshot, fields: DocumentData): void {
  if (before.exists) batch.update(before.ref, fields, unchanged(before));
  else batch.create(before.ref, fields);
}

/**
 * Commits a batch whose preconditions fail if it is sent again.
 *
 * @returns `false` if a precondition has failed, so that nothing was written
 * @throws DEADLINE_EXCEEDED after ten seconds; then it may still be committed
 */
export async function commitUnlessChanged(batch: WriteBatch): Promise<boolean> {
  try {
    await withTimeout(COMMIT_TIMEOUT_MS, batch.commit());
    return true;
  } catch (error) {
    if (isPreconditionFailure(error)) return false;
    throw error;
  }
}
