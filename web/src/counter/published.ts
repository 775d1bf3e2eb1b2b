/** The published state of a counter, from its document. */
import { type DocumentSnapshot, doc, onSnapshot, Timestamp } from "firebase/firestore";
import { type CounterWindows, DIRECT_SLOTS, type DirectFields, type RegionTotal } from "../../../core/src/index.ts";
import type { Connection } from "../firebase/connection.ts";

/** One state of the document, after a publish or a direct increment. `asOf` is milliseconds since the epoch, by the server's clock. */
export interface Published {
  readonly id: string;
  readonly total: number;
  readonly rate: number;
  readonly shardCount: number;
  /** Of shards. */
  readonly writes: number;
  /** Increments of clients in the document. */
  readonly directWrites: number;
  /** All publishes of the counter so far. */
  readonly publishes: number;
  /** Of the publish or of the direct increment, whichever is later. */
  readonly asOf: number;
  /** `undefined` if clients alone have written the document. */
  readonly publishedAt: number | undefined;
  /** Shard documents that it sums. */
  readonly shardDocuments: number;
  /** Since when its shards are listed, because a sum took too long. */
  readonly slowSince: number | undefined;
  /** Shards that are left out of the total. */
  readonly malformedShards: readonly string[];
  /** What was counted in the day, the week and the month of `asOf`. */
  readonly windows: CounterWindows<Timestamp> | null;
  /** Whether its next write is published at once. */
  readonly isIdle: boolean;
  /** Whether it is polled though nothing was written lately. */
  readonly isQuiet: boolean;
  /** When it is measured next; `undefined` if the next write causes that. */
  readonly nextPollAt: number | undefined;
  /** Whether clients may write the document. */
  readonly isOpen: boolean;
  /** Whether it counts the documents of a collection, and not its shards. */
  readonly isCollection: boolean;
}

/** What all regions have counted, as far as this one has heard. */
export interface AllRegions {
  readonly total: number;
  readonly windows: CounterWindows<Timestamp> | null;
  readonly others: readonly OtherRegion[];
}

export interface OtherRegion {
  readonly name: string;
  /** What it had counted at `asOf`; `undefined` if it was never heard. */
  readonly heard: { readonly total: number; readonly asOf: number } | undefined;
  /** Whether this region cannot reach it. */
  readonly isUnreachable: boolean;
}

/** @returns `undefined` for a counter without a total */
export function parsePublished(document: DocumentSnapshot): Published | undefined {
  const direct: Partial<DirectFields<Timestamp | null>> | undefined = document.get("direct");
  const publishedAt: number | undefined = millisOf(document.get("asOf"));
  const increment = latestIncrement(direct);
  if (publishedAt === undefined && increment === undefined) return undefined;
  const asOf = Math.max(publishedAt ?? 0, increment?.at ?? 0);
  const isPublish = asOf === publishedAt;
  return {
    id: document.id,
    total: document.get("total") ?? 0,
    rate: (isPublish ? document.get("rate") : increment?.rate) ?? 0,
    shardCount: document.get("shardCount") ?? 1,
    writes: document.get("writes") ?? 0,
    directWrites: direct?.writes ?? 0,
    publishes: document.get("publishes") ?? 0,
    asOf,
    publishedAt,
    shardDocuments: document.get("shardDocuments") ?? 1,
    slowSince: millisOf(document.get("slowSince")),
    malformedShards: [document.get("malformedShards") ?? []].flat(),
    windows: document.get("windows") ?? null,
    isIdle: (document.get("phase") ?? "idle") === "idle",
    isQuiet: ["quiet", "shrunk", "cooling"].includes(document.get("phase")),
    nextPollAt: millisOf(document.get("nextPollAt")),
    isOpen: direct?.open === true,
    isCollection: typeof document.get("countedCollection") === "string",
  };
}

/** A server may have written anything. @returns `undefined` for what is no timestamp */
export function millisOf(value: unknown): number | undefined {
  return value instanceof Timestamp ? value.toMillis() : undefined;
}

/** When the document was last incremented, and the increments per second of its generation. The server has not answered yet to one without a time. */
function latestIncrement({ generation = 0, marks = {} }: Partial<DirectFields<Timestamp | null>> = {}) {
  const now = marks[generation % DIRECT_SLOTS];
  const before = millisOf(marks[(generation + DIRECT_SLOTS - 1) % DIRECT_SLOTS]?.at);
  const at = millisOf(now?.at) ?? before;
  if (at === undefined) return undefined;
  const isMeasured = now && before !== undefined && at > before;
  return { at, rate: isMeasured ? (now.nonces.length * 1_000) / (at - before) : 0 };
}

/** @returns `undefined` with one region alone */
function parseRegions(document: DocumentSnapshot): AllRegions | undefined {
  const total: number | undefined = document.get("globalTotal");
  if (total === undefined) return undefined;
  const registers: Record<string, RegionTotal<Timestamp> | null> = document.get("regions") ?? {};
  const unreachable = document.get("unreachable") ?? {};
  const others = Object.keys(registers)
    .sort()
    .map((name) => {
      const register = registers[name];
      const heard = register ? { total: register.total, asOf: millisOf(register.asOf) ?? 0 } : undefined;
      return { name, heard, isUnreachable: name in unreachable };
    });
  return { total, windows: document.get("globalWindows") ?? null, others };
}

/** Cost: 1 read per publish; none if the page also watches the total. @returns a function that ends it */
export function onPublished(
  { db }: Connection,
  id: string,
  next: (published: Published | undefined, regions: AllRegions | undefined, document: DocumentSnapshot) => void,
  error: (error: Error) => void,
): () => void {
  return onSnapshot(
    doc(db, "counters", id),
    { includeMetadataChanges: true },
    (document) => next(parsePublished(document), parseRegions(document), document),
    error,
  );
}
