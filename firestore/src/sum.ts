/**
 * Sums the shards of a counter at one read time, without holding them in memory.
 *
 * One aggregation sums the indexed shards, another counts all documents. If the two counts differ, a server has written
 * shards without the indexed fields. Then, or if the index is missing, the shards are listed page by page. A read-only
 * transaction takes no lock, so no writer waits.
 */
import {
  AggregateField,
  type CollectionReference,
  FieldPath,
  type QuerySnapshot,
  type ReadOnlyTransactionOptions,
  type Timestamp,
  type Transaction,
} from "firebase-admin/firestore";
import { codeOf, DEADLINE_EXCEEDED, FAILED_PRECONDITION, isCount, sumOrZero } from "../../core/src/index.ts";
import { withTimeout } from "./retry.ts";

/** One shard as it was listed. */
export interface ListedShard {
  readonly id: string;
  readonly count: number;
  readonly writes: number;
  /** When the document last changed. */
  readonly updatedAt: Timestamp;
}

/** The sum of a counter's shards. */
export interface ShardSum {
  /** The sum of `count`, over the shards whose `count` is a finite number or missing. */
  readonly total: number;
  /** The sum of `writes`. */
  readonly writes: number;
  /** The number of documents. */
  readonly documents: number;
  /** The instant of the sum. */
  readonly asOf: Timestamp;
  /** Whether a `count` or the sum is infinite or NaN. Then `total` is wrong. */
  readonly overflows?: boolean;
  /** Ids of the shards whose `count` cannot be added, if the shards were listed. */
  readonly malformed?: readonly string[];
  /** Why the index could not be used: it is missing, some shards are not in it, or it takes too long. */
  readonly withoutIndex?: "missing" | "incomplete" | "slow" | undefined;
}

/** Documents held in memory at once. */
const PAGE = 500;

/**
 * Cost: 2 reads, and 2 more for each further 1,000 shards
 * (https://firebase.google.com/docs/firestore/pricing#aggregation_queries); 1 read per shard more where they are listed.
 *
 * @param readOptions  of the read-only transaction; by default it reads at this instant, in the emulator a moment earlier
 * @param longest      how many milliseconds the index may take before the shards are listed; by default any time
 * @param byScan       whether the database sums without an index, as Firestore's Enterprise edition does
 */
export async function sumShards(
  shards: CollectionReference,
  readOptions: ReadOnlyTransactionOptions = { readOnly: true },
  { longest = Number.POSITIVE_INFINITY, byScan = false }: { longest?: number; byScan?: boolean } = {},
): Promise<ShardSum> {
  const list = async (withoutIndex: ShardSum["withoutIndex"]): Promise<ShardSum> => {
    return { ...(await listShards(shards, readOptions)), withoutIndex };
  };
  const sum = shards.firestore.runTransaction(
    (transaction) => sumByAggregation(transaction, shards, byScan),
    readOptions,
  );
  try {
    return (await (Number.isFinite(longest) ? withTimeout(longest, sum) : sum)) ?? (await list("incomplete"));
  } catch (error) {
    if (codeOf(error) === FAILED_PRECONDITION) return await list("missing");
    if (codeOf(error) === DEADLINE_EXCEEDED && Number.isFinite(longest)) return await list("slow");
    throw error;
  }
}

/** Sums the shards without the index, page by page. Cost: 1 read per shard. */
export function listShards(
  shards: CollectionReference,
  readOptions: ReadOnlyTransactionOptions = { readOnly: true },
): Promise<ShardSum> {
  return shards.firestore.runTransaction((transaction) => sumByListing(transaction, shards), readOptions);
}

/** A sum of a field in an aggregation query, of which `sumOrZero` makes a number. */
export function sumField(field: string | FieldPath): AggregateField<number | null> {
  return AggregateField.sum(field);
}

/**
 * The query that the index serves: over the shards that have all of its fields. Cost: 1 read per 1,000 of them. Without the order it is
 * served without an index.
 */
export function indexedSums(shards: CollectionReference, byScan = false) {
  return (byScan ? shards : shards.orderBy("shard")).aggregate({
    total: sumField("count"),
    // Always summed, so that one index serves all callers.
    writes: sumField("writes"),
    documents: AggregateField.count(),
  });
}

async function sumByAggregation(
  transaction: Transaction,
  shards: CollectionReference,
  byScan: boolean,
): Promise<ShardSum | undefined> {
  const sums = indexedSums(shards, byScan);
  const [indexed, all] = await Promise.all([transaction.get(sums), transaction.get(shards.count())]);
  const sum = wholeSum(indexed.data(), all.data().count);
  return sum && { ...sum, asOf: indexed.readTime };
}

/** What {@link indexedSums} answers. */
interface IndexedSums {
  readonly total: number | null;
  readonly writes: number | null;
  readonly documents: number;
}

/** @returns `undefined` if some of the documents are not in the index, or a sum is not finite */
export function wholeSum(answer: IndexedSums, documents: number): Omit<ShardSum, "asOf"> | undefined {
  const [total, writes] = [sumOrZero(answer.total), sumOrZero(answer.writes)];
  const isWhole = answer.documents === documents && Number.isFinite(total) && Number.isFinite(writes);
  return isWhole ? { total, writes, documents } : undefined;
}

async function sumByListing(transaction: Transaction, shards: CollectionReference): Promise<ShardSum> {
  const pages = shards.select("count", "writes").orderBy(FieldPath.documentId()).limit(PAGE);
  let sum: ShardSum | undefined;
  for (let page = await transaction.get(pages); ; page = await transaction.get(pages.startAfter(page.docs.at(-1)))) {
    const { shards: _, ...next } = sumOfListed(page);
    sum = sum ? added(sum, next) : next;
    if (page.size < PAGE) return sum;
  }
}

/** The sum of two pages of one snapshot. */
function added(one: ShardSum, other: ShardSum): ShardSum {
  return {
    asOf: one.asOf,
    total: one.total + other.total,
    overflows: !!one.overflows || !!other.overflows || !Number.isFinite(one.total + other.total),
    writes: one.writes + other.writes,
    documents: one.documents + other.documents,
    malformed: [...(one.malformed ?? []), ...(other.malformed ?? [])],
  };
}

/** The sum of listed shards, and each shard whose count can be added. */
export function sumOfListed({ docs, readTime }: QuerySnapshot) {
  const shards: ListedShard[] = [];
  const malformed: string[] = [];
  let [total, writes] = [0, 0];
  let overflows = false;
  for (const doc of docs) {
    const count: unknown = doc.get("count");
    const landed = writesOf(doc.get("writes"));
    writes += landed;
    if (isCount(count)) {
      total += count ?? 0;
      shards.push({ id: doc.id, count: count ?? 0, writes: landed, updatedAt: doc.updateTime });
    } else {
      malformed.push(doc.id);
      overflows ||= typeof count === "number";
    }
  }
  overflows ||= !Number.isFinite(total);
  return { total, overflows, writes, asOf: readTime, documents: docs.length, shards, malformed } satisfies ShardSum & {
    shards: ListedShard[];
  };
}

/** 0 for a server that writes `count` alone: only the rate suffers. */
function writesOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}
