/**
 * Compares a counter with its source of truth, and corrects it.
 *
 *     one snapshot: source and shards ──▶ drift ──▶ one commit, if base is as it was: base += drift, and a correction document
 *           ▲                                                │
 *           └────────────── base has changed ◀───────────────┘
 *
 * A document and its increment that share a commit are both in the snapshot or neither is, so they cause no drift. Increments
 * committed after the snapshot count in full, since a difference is added. Nothing is locked: the snapshot is a read-only
 * transaction, and clients never write `base`.
 *
 * Two calls that find the same drift, or a commit that is sent twice, correct it once: the first changes `base`, so the other
 * reads again. The correction has one id for the whole call, which identifies a commit without a response.
 */

import {
  type DocumentReference,
  type DocumentSnapshot,
  FieldValue,
  type QuerySnapshot,
  type Timestamp,
} from "firebase-admin/firestore";
import {
  CORRECTIONS,
  type CorrectionDocument,
  CounterError,
  type CounterSource,
  codeOf,
  DEADLINE_EXCEEDED,
  differenceBeyondRounding,
  directCountOf,
  givenFlag,
  hasOption,
  isSafeAmount,
  parseSource,
  shardsPath,
  sumOrZero,
  validSource,
} from "../../core/src/index.ts";
import { type CallOptions, latestSnapshot, withSignal } from "../../firestore/src/index.ts";
import { adjustBase, commitAdjustment, magnitudeOf, retryAdjustment, sumOf } from "./base.ts";
import { refuseCountedCollection } from "./countedCollection.ts";
import { type CounterRef, counterDoc } from "./counter.ts";
import { sourceAggregation } from "./source.ts";
import { refuseIfBounded } from "./stock.ts";

/** Options of {@link reconcileCounter}. */
export interface ReconcileCounterOptions extends CallOptions {
  /** The source for this call. Default: the one that {@link setCounterSource} has stored. */
  source?: CounterSource;
  /** Whether to compare without a correction. Default `false`. */
  dryRun?: boolean;
}

/** The result of a reconcile. */
export interface CounterReconciliation {
  /** The total of the source at `asOf`. */
  readonly expected: number;
  /** The exact total at `asOf`. */
  readonly found: number;
  /** `expected − found`. */
  readonly drift: number;
  /** Whether the drift was added to the counter. */
  readonly corrected: boolean;
  /** The instant of the snapshot. */
  readonly asOf: Timestamp;
}

/**
 * Compares a counter with its source of truth in one snapshot, and if they differ, adds the difference to the counter.
 * Increments may go on meanwhile, and count; none waits. Each correction is kept in `tallyCorrections` of the counter.
 *
 * Exact if each document of the source is committed together with its increment, as with {@link incrementCounterIn}. If the
 * increment is a commit of its own, increments that are pending at the snapshot are taken for drift: then reconcile when little
 * is written.
 *
 * On a counter without increments, this counts the documents that exist already.
 *
 * Cost: 1 read, 1 per shard, and 1 per 1,000 documents of the source; 1 read and 3 writes if there is drift. Again
 * if a fold, a reset or another reconcile came in between. The source may need an index of its own, which Firestore's error
 * names; on the Enterprise edition it scans its collection without one.
 *
 * @throws CounterError `counter/invalid-source` if there is none, or it cannot be counted; `counter/source-too-large`;
 *         `counter/bounded` unless it is a dry run; `counter/counted-collection`; `counter/contention` if a server writes `shards/base` all the time
 *
 * @example
 * ```ts
 * const posts = counter(db, "posts:all");
 * await setCounterSource(posts, { collection: "posts" });
 * const { drift } = await reconcileCounter(posts);
 * ```
 */
export async function reconcileCounter(
  ref: CounterRef,
  options: ReconcileCounterOptions = {},
): Promise<CounterReconciliation> {
  const dryRun = givenFlag(options, "dryRun");
  const given = hasOption(options, "source") ? validSource(options.source) : undefined;
  return await withSignal(options, () => reconcile(ref, given, dryRun));
}

async function reconcile(
  ref: CounterRef,
  given: CounterSource | undefined,
  dryRun: boolean,
): Promise<CounterReconciliation> {
  const correction = counterDoc(ref).collection(CORRECTIONS).doc();
  let sent = false;
  let timeouts = 0;
  return await retryAdjustment(ref, async () => {
    const { source, expected, shards, counter, asOf } = await readSourceAndShards(ref, given).catch((error) => {
      if (codeOf(error) === DEADLINE_EXCEEDED) timeouts++;
      throw timeouts === TIMEOUTS ? tooLarge(ref, error) : error;
    });
    timeouts = 0;
    // Read after the snapshot: an earlier commit without a response is either in the snapshot, or will fail.
    const earlier = sent ? await earlierResult(correction) : undefined;
    if (earlier) return earlier;
    const found = sumOf(shards) + directCountOf(counter);
    const drift = differenceBeyondRounding(expected, found, magnitudeOf(shards));
    if (drift === 0 || dryRun) return { expected, found, drift, corrected: false, asOf };
    await refuseIfBounded(ref, "a correction");

    const batch = ref.firestore.batch();
    adjustBase(batch, ref, shards, drift);
    const at = FieldValue.serverTimestamp() as unknown as Timestamp;
    batch.create(correction, {
      source,
      expected,
      found,
      by: drift,
      asOf,
      at,
    } satisfies CorrectionDocument<Timestamp>);
    sent = true;
    await commitAdjustment(batch);
    return { expected, found, drift, corrected: true, asOf };
  });
}

function storedSource(counter: DocumentSnapshot): CounterSource {
  const stored: unknown = counter.get("source");
  if (stored !== undefined) return parseSource(stored).source;
  throw new CounterError(
    "counter/invalid-source",
    `"${counter.id}" has no source of truth; set one with setCounterSource, or pass { source }`,
  );
}

/** The result of an earlier commit of this call that had no response, if it succeeded. */
async function earlierResult(correction: DocumentReference): Promise<CounterReconciliation | undefined> {
  const made = (await correction.get()).data() as CorrectionDocument<Timestamp> | undefined;
  return made && { expected: made.expected, found: made.found, drift: made.by, corrected: true, asOf: made.asOf };
}

/** The timeouts in a row that show that the source is too large. A single one may be due to the connection. */
const TIMEOUTS = 3;

interface Comparison {
  readonly source: CounterSource;
  readonly expected: number;
  readonly shards: QuerySnapshot;
  readonly counter: DocumentSnapshot;
  readonly asOf: Timestamp;
}

/** Reads source, shards and counter document in one snapshot. */
async function readSourceAndShards(ref: CounterRef, given: CounterSource | undefined): Promise<Comparison> {
  const { firestore, path } = ref;
  return await firestore.runTransaction(
    async (transaction) => {
      const counter = await transaction.get(counterDoc(ref));
      refuseCountedCollection(counter);
      const source = given ?? storedSource(counter);
      const expected = sumOrZero((await transaction.get(sourceAggregation(ref, source))).data().expected);
      if (!isSafeAmount(expected)) throw notANumber(ref, expected);
      const shards = await transaction.get(firestore.collection(shardsPath(path)).select("count"));
      return { source, expected, shards, counter, asOf: shards.readTime };
    },
    await latestSnapshot(),
  );
}

function tooLarge({ id }: CounterRef, cause: unknown): CounterError {
  return new CounterError(
    "counter/source-too-large",
    `counting the source of "${id}" takes longer than the minute Firestore allows; choose a source with fewer documents`,
    cause,
  );
}

function notANumber({ id }: CounterRef, expected: number): CounterError {
  return new CounterError(
    "counter/invalid-source",
    `the source of "${id}" sums up to ${expected}; which must be a number within ±2^53; correct the documents`,
  );
}
