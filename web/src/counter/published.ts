/** What the functions have published of a counter, as this page has seen it. */
import { type DocumentSnapshot, doc, onSnapshot, type Timestamp } from "firebase/firestore";
import type { Backend } from "../firebase/backend.ts";

/** One publish. Times are milliseconds since the epoch, by the server's clock. */
export interface Published {
  readonly id: string;
  readonly total: number;
  readonly rate: number;
  readonly shardCount: number;
  readonly writes: number;
  /** How often the counter has been published, ever. */
  readonly publishes: number;
  readonly asOf: number;
  /** How many documents the functions had to read for it. */
  readonly shardDocuments: number;
  /** Shards that are left out of the total. */
  readonly malformedShards: readonly string[];
}

/** @returns `undefined` for a counter that was never published */
export function toPublished(document: DocumentSnapshot): Published | undefined {
  const asOf: Timestamp | undefined = document.get("asOf");
  if (!asOf) return undefined;
  return {
    id: document.id,
    total: document.get("total") ?? 0,
    rate: document.get("rate") ?? 0,
    shardCount: document.get("shardCount") ?? 1,
    writes: document.get("writes") ?? 0,
    publishes: document.get("publishes") ?? 0,
    asOf: asOf.toMillis(),
    shardDocuments: document.get("shardDocuments") ?? 1,
    malformedShards: document.get("malformedShards") ?? [],
  };
}

/** Cost: 1 read per publish; none if the page watches the counter anyway. @returns a function that ends it */
export function onPublished(
  { db }: Backend,
  id: string,
  next: (published: Published | undefined, fromCache: boolean) => void,
  error: (error: Error) => void,
): () => void {
  return onSnapshot(
    doc(db, "counters", id),
    { includeMetadataChanges: true },
    (document) => next(toPublished(document), document.metadata.fromCache),
    error,
  );
}
