/** Preconditions on documents that were read. */
import type { DocumentSnapshot, Timestamp } from "firebase-admin/firestore";

/** The precondition that a document that exists is as it was read. */
export function unchanged({ updateTime }: DocumentSnapshot): { readonly lastUpdateTime?: Timestamp } {
  return updateTime ? { lastUpdateTime: updateTime } : {};
}
