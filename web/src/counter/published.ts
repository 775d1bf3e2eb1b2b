/** The published state of a counter, from its document. */
import { type DocumentSnapshot, doc, onSnapshot, type Timestamp } from "firebase/firestore";
import { type Register, type WindowTotals, windowTotals } from "../../../core/src/index.ts";
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
  /** Shard documents that it sums. */
  readonly shardDocuments: number;
  /** Shards that are left out of the total. */
  readonly malformedShards: readonly string[];
  /** What was counted today, this week and this month, when it was read. */
  readonly windows: WindowTotals;
  /** The sums of all regions; `undefined` with one alone. */
  readonly globalTotal: number | undefined;
  readonly globalWindows: WindowTotals | undefined;
  /** What was last heard of each other region. */
  readonly regions: readonly OtherRegion[];
}

export interface OtherRegion {
  readonly name: string;
  /** What it had counted at `asOf`; `undefined` if it was never heard. */
  readonly heard: { readonly total: number; readonly asOf: number } | undefined;
  /** Whether this region cannot reach it. */
  readonly isUnreachable: boolean;
}

/** @returns `undefined` for a counter that was never published */
export function parsePublished(document: DocumentSnapshot): Published | undefined {
  const asOf: Timestamp | undefined = document.get("asOf");
  if (!asOf) return undefined;
  const globalWindows = document.get("globalWindows");
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
    globalTotal: document.get("globalTotal"),
    globalWindows: globalWindows && windowTotals(globalWindows, Date.now()),
    regions: parseRegions(document.get("regions"), document.get("unreachable")),
  };
}

function parseRegions(regions: Record<string, Register<Timestamp> | null> = {}, unreachable?: object): OtherRegion[] {
  const names = Object.keys(regions).sort();
  return names.map((name) => {
    const register = regions[name];
    const heard = register ? { total: register.total, asOf: register.asOf.toMillis() } : undefined;
    return { name, heard, isUnreachable: name in (unreachable ?? {}) };
  });
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
