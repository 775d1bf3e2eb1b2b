/** The published state of a counter, from its document. */
import { type DocumentSnapshot, doc, onSnapshot, type Timestamp } from "firebase/firestore";
import { type WindowTotals, windowTotals } from "../../../core/src/index.ts";
import type { Connection } from "../firebase/connection.ts";

/** One publish. `asOf` is milliseconds since the epoch, by the server's clock. */
export interface Published {
  readonly id: string;
  readonly total: number;
  readonly rate: number;
  readonly shardCount: number;
  readonly writes: number;
  /** All publishes of the counter so far. */
  readonly publishes: number;
  readonly asOf: number;
  /** Shard documents that the functions read for it. */
  readonly shardDocuments: number;
  /** Shards that are left out of the total. */
  readonly malformedShards: readonly string[];
  /** What was counted today, this week and this month, when it was read. */
  readonly windows: WindowTotals;
}

/** @returns `undefined` for a counter that was never published */
export function parsePublished(document: DocumentSnapshot): Published | undefined {
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
    windows: windowTotals(document.get("windows"), Date.now()),
  };
}

/** Cost: 1 read per publish; none if the page also watches the total. @returns a function that ends it */
export function onPublished(
  { db }: Connection,
  id: string,
  next: (published: Published | undefined, fromCache: boolean) => void,
  error: (error: Error) => void,
): () => void {
  return onSnapshot(
    doc(db, "counters", id),
    { includeMetadataChanges: true },
    (document) => next(parsePublished(document), document.metadata.fromCache),
    error,
  );
}
