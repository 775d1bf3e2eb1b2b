/**
 * Group commit: the increments of many senders in one commit, with one write for each counter, and one for each increment that
 * counts once by an id of its sender.
 */
import { createHash } from "node:crypto";
import { type DocumentReference, FieldValue, type Firestore, type WriteBatch } from "firebase-admin/firestore";
import {
  ALREADY_EXISTS,
  BATCH_RECEIPTS,
  bucketOf,
  CounterError,
  codeOf,
  FAILED_PRECONDITION,
  hashRank,
  INVALID_ARGUMENT,
  type ItemCountsDocument,
  ItemSummary,
  isCounterError,
  itemCountsPath,
  receiptsPath,
  uniquesPath,
  visitorHash,
} from "../../core/src/index.ts";
import { isTransient, retry, withTimeout } from "../../firestore/src/index.ts";
import { addIncrement, isContention } from "./commit.ts";
import { type Counter, type CounterRef, firestoreOf, refreshShardCount } from "./counter.ts";
import { createReceipt, newReceipt } from "./receipt.ts";

/** How long an attempt may take. The next one chooses other shards. */
const ATTEMPT_TIMEOUT_MS = 5_000;

/** How long a sender's receipt lives. Pub/Sub delivers a message again for a week at most, in its 1st generation of triggers. */
const SENDER_RECEIPT_MS = 8 * 24 * 3_600_000;

/** Increments that count together or not at all. */
export interface SharedIncrement {
  /** Counts once while it exists; `undefined` for what counts with each commit. */
  readonly receipt: DocumentReference | undefined;
  /** At least one. */
  readonly counts: readonly Count[];
}

/** The increment of one counter. */
export interface Count {
  readonly counter: CounterRef;
  /** A whole number from 0. */
  readonly by: number;
  readonly visitor?: string | undefined;
  /** Counts `by` times among the items of the counter; then `by` is not 0. */
  readonly item?: string | undefined;
}

/** How many receipts that an error names are looked up one by one. Then the rest is read at once. */
const MOST_NAMED = 5;

/** The receipt of an event that a sender has named. It belongs to the event's counter. */
export function receiptOf(counter: CounterRef, name: string): DocumentReference {
  return firestoreOf(counter).doc(`${receiptsPath(counter.path)}/${hashOf(name)}`);
}

/** The receipt of a batch, by what tells it from all other batches of the database. */
export function batchReceipt(firestore: Firestore, name: readonly string[]): DocumentReference {
  return firestore.doc(`${BATCH_RECEIPTS}/${hashOf(JSON.stringify(name))}`);
}

/** The id of a receipt. A sender's name may be any text. */
function hashOf(name: string): string {
  return createHash("sha256").update(name).digest("base64url");
}

/**
 * Commits increments together, all or none, but for those whose receipts exist. A commit with an unknown outcome is repeated
 * until `giveUpAt`, and counts once.
 *
 * Cost: 1 write per counter, 1 per counter that gets items, 1 per receipt, 1 if anything has no receipt, and 1 per bucket that
 * gets visitors (up to 16 for a counter, or 256 if they come fast); 1 delete per receipt when it expires: after a day, or after eight
 * if a sender has named it; 1 read per receipt that exists, or 1 per receipt if more than five of them do. And 1 read per counter and
 * process, repeated after two minutes or 20 commits.
 *
 * @param increments  of one database, with different receipts
 * @param giveUpAt    by `Date.now()`
 * @param addMore     adds other documents of these increments to the commit
 * @returns           those that had counted already. After a call without a response these may be its own
 * @throws CounterError `counter/unknown-outcome` after `giveUpAt`, or if an error does not tell whether an earlier attempt was made:
 *         the increments may or may not count; Firestore's error if it refuses what was sent: then they do not count
 */
export async function commitTogether<T extends SharedIncrement>(
  increments: readonly T[],
  giveUpAt: number,
  addMore: (batch: WriteBatch, increments: readonly T[]) => void = () => {},
): Promise<ReadonlySet<T>> {
  const [first] = increments;
  if (!first) return new Set();
  const counters = new Set(increments.flatMap(({ counts }) => counts.map(({ counter }) => counter as Counter)));
  await Promise.all([...counters].map(refreshShardCount));
  const buckets = await bucketsOf(increments);
  const { counter } = first.counts[0] as Count;
  const { firestore } = counter;
  // What has no receipt of its own must not count again either if the commit is sent again.
  const shared = increments.every(({ receipt }) => receipt) ? undefined : newReceipt(counter);
  const create = shared && createReceipt(shared);
  const duplicates = new Set<T>();
  const limit = <R>(call: Promise<R>) => withTimeout(Math.min(giveUpAt - Date.now(), ATTEMPT_TIMEOUT_MS), call);
  const retryInTime = <R>(call: () => Promise<R>) =>
    retry(async () => {
      if (Date.now() >= giveUpAt) throw noAnswer();
      return await call().catch((error) => {
        throw isTransient(error) && Date.now() >= giveUpAt ? noAnswer(error) : error;
      });
    });
  /** Those of the receipts that exist. */
  const existing = async (receipts: readonly DocumentReference[]): Promise<ReadonlySet<string>> => {
    if (receipts.length === 0) return new Set();
    const found = await retryInTime(() => limit(firestore.getAll(...receipts, { fieldMask: [] }))).catch((error) => {
      throw isCounterError(error) ? error : noAnswer(error);
    });
    return new Set(found.filter(({ exists }) => exists).map(({ ref }) => ref.path));
  };
  for (let refusals = 1; ; refusals++) {
    const left = increments.filter((increment) => !duplicates.has(increment));
    if (left.length === 0) return duplicates;
    let cause: unknown;
    let attempts = 0;
    try {
      await retryInTime(async () => {
        attempts++;
        const batch = firestore.batch();
        create?.(batch);
        addTo(batch, firestore, left, buckets);
        addMore(batch, left);
        await observed(limit(batch.commit()), counters);
      });
      return duplicates;
    } catch (error) {
      if (codeOf(error) !== ALREADY_EXISTS) throw isRefusal(error) || isCounterError(error) ? error : noAnswer(error);
      cause = error;
    }
    const receipts = [...(shared ? [shared] : []), ...left.flatMap(({ receipt }) => receipt ?? [])];
    // Firestore names the first document that exists. Its message only saves reads.
    const isNamed = (receipt: DocumentReference) =>
      String(cause).includes(receipt.id) || (receipt === shared && attempts > 1);
    const named = refusals > MOST_NAMED ? [] : receipts.filter(isNamed);
    let counted = await existing(named);
    if (counted.size === 0) counted = await existing(receipts);
    // An earlier attempt had no response.
    if (shared && counted.has(shared.path)) return duplicates;
    // It has expired since.
    if (counted.size === 0) throw noAnswer(cause);
    for (const increment of left) {
      if (increment.receipt && counted.has(increment.receipt.path)) duplicates.add(increment);
    }
  }
}

/** Visitor → the bucket of its hash, and the hash. Visitors who can change no estimate are left out. */
type Buckets = ReadonlyMap<Count, { readonly bucket: string; readonly hash: string }>;

async function bucketsOf(increments: readonly SharedIncrement[]): Promise<Buckets> {
  const buckets = new Map<Count, { bucket: string; hash: string }>();
  for (const count of increments.flatMap(({ counts }) => counts)) {
    if (count.visitor === undefined) continue;
    const { floor = 0, buckets: bucketCount = 16 } = (count.counter as Counter)._uniques ?? {};
    const hash = await visitorHash(count.visitor);
    const bucket = `${uniquesPath(count.counter.path)}/${bucketOf(hash, bucketCount)}`;
    if (hashRank(hash) > floor) buckets.set(count, { bucket, hash });
  }
  return buckets;
}

function addTo(
  batch: WriteBatch,
  firestore: Firestore,
  increments: readonly SharedIncrement[],
  buckets: Buckets,
): void {
  const sums = new Map<Counter, number>();
  const visitors = new Map<string, Set<string>>();
  const items = new Map<Counter, ItemSummary>();
  for (const { receipt, counts } of increments) {
    if (receipt) createReceipt(receipt, SENDER_RECEIPT_MS)(batch);
    for (const count of counts) {
      const counter = count.counter as Counter;
      sums.set(counter, (sums.get(counter) ?? 0) + count.by);
      if (count.item !== undefined) {
        const summary = items.get(counter) ?? new ItemSummary();
        summary.add(count.item, count.by);
        items.set(counter, summary);
      }
      const visit = buckets.get(count);
      if (visit) visitors.set(visit.bucket, (visitors.get(visit.bucket) ?? new Set()).add(visit.hash));
    }
  }
  for (const [counter, sum] of sums) if (sum !== 0) addIncrement(batch, counter, sum);
  for (const [bucket, hashes] of visitors) {
    const fields = { visitors: FieldValue.arrayUnion(...hashes) };
    batch.set(firestore.doc(bucket), fields, { merge: true });
  }
  // A new document for each commit, so that none is contended.
  for (const [counter, summary] of items) {
    const fields: ItemCountsDocument = { bytes: Buffer.from(summary.serialize()) };
    batch.create(firestore.collection(itemCountsPath(counter.path)).doc(), fields);
  }
}

/** Tells the counters about contention, so that the next attempt spreads over more shards. */
async function observed(commit: Promise<unknown>, counters: Iterable<Counter>): Promise<void> {
  const sent = [...counters].map(({ _shardCountCache }) => [_shardCountCache, _shardCountCache._writeSent()] as const);
  let isContended = false;
  try {
    await commit;
  } catch (error) {
    isContended = isContention(error);
    throw error;
  } finally {
    for (const [shardCountCache, write] of sent) shardCountCache._writeAnswered(write, isContended);
  }
}

/** Whether Firestore has refused what was sent, as it would each time. Other errors say nothing of an earlier attempt. */
function isRefusal(error: unknown): boolean {
  return [INVALID_ARGUMENT, FAILED_PRECONDITION].includes(codeOf(error) ?? -1);
}

function noAnswer(cause?: unknown): CounterError {
  return new CounterError(
    "counter/unknown-outcome",
    "Firestore gave no answer in time, or none that tells: what was sent may or may not count. What has an id can be sent again",
    cause,
  );
}
