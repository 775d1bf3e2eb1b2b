/**
 * Measures a counter: what its shards sum up to, at one instant.
 *
 * A few shards are listed. More are added up by the index, which costs 2 reads for up to 1,000 of them: one aggregation
 * sums the shards that are in the index, the other counts all documents there are, both at one read time. If the two
 * numbers of documents differ, something was written that the index leaves out, and all shards are listed after all. A
 * read-only transaction and a query take no lock, so no writer waits.
 */
import {
  AggregateField,
  type CollectionReference,
  FieldPath,
  type Query,
  type QuerySnapshot,
  type Timestamp,
  type Transaction,
} from "firebase-admin/firestore";
import { logger } from "firebase-functions";
import { codeOf, FAILED_PRECONDITION, isCount } from "../../core/src/index.ts";
import type { Millis } from "./config.ts";
import { toMillis } from "./counterDocument.ts";
import { FEW } from "./shards.ts";

/** One shard as it was listed. */
export interface MeasuredShard {
  readonly id: string;
  readonly count: number;
  readonly writes: number;
  /** When the document last changed. Also the precondition of folding it. */
  readonly updatedAt: Timestamp;
}

export interface Measurement {
  /** The sum of `count` over all shards that have one; or how many documents the counted collection has. */
  readonly total: number;
  /** The sum of `writes` over all shards. */
  readonly writes: number;
  /** The instant both are exact for. */
  readonly asOf: Timestamp;
  /** How many documents there are in `shards`. */
  readonly documents: number;
  /** The shards one by one, if there are only a few. */
  readonly shards?: readonly MeasuredShard[];
  /** Ids of shards whose `count` is not a finite number, if the shards were listed. They are left out of the total. */
  readonly malformed?: readonly string[];
  /** The collection that is counted instead of shards, and what that cost in reads. */
  readonly counted?: { readonly path: string; readonly reads: number };
}

/** Documents held in memory at once. */
const PAGE = 500;

/** @param documents  how many shards there were when the counter was measured last */
export async function measureShards(shards: CollectionReference, documents: number): Promise<Measurement> {
  const listed = shards.select("count", "writes");
  if (documents <= FEW) {
    const some = await listed.limit(FEW + 1).get();
    if (some.size <= FEW) return summarize(some);
  }
  try {
    return await shards.firestore.runTransaction(async (transaction) => {
      const sum = await sumByIndex(transaction, shards);
      // Of a few, it matters which they are.
      return sum && sum.documents > FEW ? sum : await sumByListing(transaction, listed);
    }, READ_ONLY);
  } catch (error) {
    if (codeOf(error) !== FAILED_PRECONDITION) throw error;
    warnOnce("the index of `shards` is missing, so each measurement reads every shard: deploy firestore.indexes.json");
    return await shards.firestore.runTransaction((transaction) => sumByListing(transaction, listed), READ_ONLY);
  }
}

const READ_ONLY = { readOnly: true } as const;

/**
 * Cost: 2 reads, and 2 more for each further 1,000 shards
 * (https://firebase.google.com/docs/firestore/pricing#aggregation_queries).
 *
 * @returns `undefined` if the index leaves documents out, or what they hold has no sum
 */
async function sumByIndex(transaction: Transaction, shards: CollectionReference): Promise<Measurement | undefined> {
  const sums = shards.orderBy("shard").aggregate({
    total: AggregateField.sum("count"),
    writes: AggregateField.sum("writes"),
    documents: AggregateField.count(),
  });
  const [summed, counted] = await Promise.all([transaction.get(sums), transaction.get(shards.count())]);
  const { total, writes, documents } = summed.data();
  if (!Number.isFinite(total)) return undefined;
  if (documents !== counted.data().count) {
    warnOnce(
      "some shards are not in the index, so each measurement reads every shard: give them the fields of docs/data-model.md",
    );
    return undefined;
  }
  return { total, writes, documents, asOf: summed.readTime };
}

/** Cost: 1 read per shard. Holds {@link PAGE} documents at once. */
async function sumByListing(transaction: Transaction, listed: Query): Promise<Measurement> {
  const pages = listed.orderBy(FieldPath.documentId()).limit(PAGE);
  let page = await transaction.get(pages);
  if (page.size < PAGE) return summarize(page);
  let { shards: _, ...sum }: Measurement = summarize(page);
  while (page.size === PAGE) {
    page = await transaction.get(pages.startAfter(page.docs[PAGE - 1]));
    const next = summarize(page);
    sum = {
      asOf: sum.asOf,
      total: sum.total + next.total,
      writes: sum.writes + next.writes,
      documents: sum.documents + next.documents,
      malformed: [...(sum.malformed ?? []), ...(next.malformed ?? [])],
    };
  }
  return sum;
}

/** Sums shards that were listed. */
export function summarize({
  docs,
  readTime,
  size,
}: QuerySnapshot): Measurement & Required<Pick<Measurement, "shards">> {
  const shards: MeasuredShard[] = [];
  const malformed: string[] = [];
  let writes = 0;
  for (const doc of docs) {
    const count: unknown = doc.get("count");
    const landed = writesOf(doc.get("writes"));
    writes += landed;
    if (isCount(count)) shards.push({ id: doc.id, count: count ?? 0, writes: landed, updatedAt: doc.updateTime });
    else malformed.push(doc.id);
  }
  const total = shards.reduce((sum, { count }) => sum + count, 0);
  return { total, writes, asOf: readTime, documents: size, shards, malformed };
}

/** A server may write `count` alone; that blinds the rate and nothing else. */
function writesOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Whether this measurement is certain to include the write that left `shardId` as it was at `committedAt`. */
export function includes({ shards = [] }: Measurement, shardId: string | undefined, committedAt: Millis): boolean {
  const shard = shards.find(({ id }) => id === shardId);
  return shard !== undefined && toMillis(shard.updatedAt) >= committedAt;
}

const warned = new Set<string>();

/** One line for each instance: what it says holds for all counters, or for one that is measured every second. */
function warnOnce(message: string): void {
  if (!warned.has(message)) logger.warn(message);
  warned.add(message);
}
