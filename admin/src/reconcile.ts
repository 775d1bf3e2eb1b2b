/**
 * Holds a counter against its source of truth, and corrects it.
 *
 *     one snapshot: what the source amounts to, and the shards ──▶ drift ──▶ one commit: base += drift, if base is as it
 *           ▲                                                                was, and a correction says so
 *           └──────────────── base has moved: look again ◀───────────────────────────┘
 *
 * A document and its increment that share a commit are both in the snapshot or both not, so they never are drift; and
 * increments committed after the snapshot count in full, since what is added is a difference. Nothing is locked: the
 * snapshot is a read-only transaction's, and clients never write `base`.
 *
 * Two that find the same drift, or one whose commit is sent twice, correct it once: the first moves `base`, and whoever
 * looks again finds what is left. The correction has one id for the whole call, so a commit whose answer never came is
 * known by it.
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
  codeOf,
  DEADLINE_EXCEEDED,
  parseSource,
  type Source,
  shardsPath,
  validSource,
} from "../../core/src/index.ts";
import { adjustBase, commitAdjustment, magnitudeOf, retryAdjustment, sumOf } from "./base.ts";
import { type CounterRef, counterDoc } from "./counter.ts";
import { driftOf } from "./drift.ts";
import { latestSnapshot } from "./latestSnapshot.ts";
import { sourceAggregation } from "./source.ts";

/** How a counter is reconciled. */
export interface ReconcileOptions {
  /** What the counter should be equal to, this once. Default: what {@link setSource} has named. */
  source?: Source | undefined;
  /** Only looks, and writes nothing. Default `false`. */
  dryRun?: boolean | undefined;
}

/** What a reconcile found and did. */
export interface Reconciliation {
  /** What the source amounted to at `asOf`. */
  readonly expected: number;
  /** What the counter amounted to at `asOf`. */
  readonly found: number;
  /** `expected − found`: what the counter lacked, or, below 0, had too much. */
  readonly drift: number;
  /** Whether the drift was added to the counter. */
  readonly corrected: boolean;
  /** The instant of the snapshot. */
  readonly asOf: Timestamp;
}

/**
 * Compares a counter with its source of truth at one snapshot, and if they differ, adds the difference to the counter.
 * Increments may go on meanwhile, and count; nobody waits. What was corrected is kept in `corrections` of the counter.
 *
 * Exact if each document of the source is committed together with its increment, as {@link incrementCounterIn} does it.
 * Where the increment comes in a commit of its own, before or after, those under way at the snapshot are taken for drift;
 * then reconcile when little is written.
 *
 * On a counter that nobody has incremented, this counts what exists already.
 *
 * Cost: 1 read per shard, 1 per 1,000 documents of the source, and 1 for a stored source; 2 writes if there is a drift. Again
 * if a fold, a reset or another reconcile came between. The source may need an index of its own: Firestore's error names
 * it.
 *
 * @throws CounterError `counter/invalid-source` if there is none, or it cannot be counted; `counter/source-too-large`;
 *         `counter/contention` if a server writes `shards/base` all the time
 *
 * @example
 * ```ts
 * const posts = counter(db, "posts:all");
 * await setSource(posts, { collection: "posts" });
 * const { drift } = await reconcileCounter(posts);
 * ```
 */
export async function reconcileCounter(ref: CounterRef, options: ReconcileOptions = {}): Promise<Reconciliation> {
  const { dryRun = false } = options;
  const given = options.source === undefined ? undefined : validSource(options.source);
  const correction = counterDoc(ref).collection(CORRECTIONS).doc();
  let sent = false;
  let timeouts = 0;
  return await retryAdjustment(ref, async () => {
    const { source, expected, shards, asOf } = await look(ref, given).catch((error) => {
      if (codeOf(error) === DEADLINE_EXCEEDED) timeouts++;
      throw timeouts === TIMEOUTS ? tooLarge(ref, error) : error;
    });
    timeouts = 0;
    // After the snapshot: a commit whose answer never came is either in it, and known by its correction, or will fail.
    const earlier = sent ? await madeBy(correction) : undefined;
    if (earlier) return earlier;
    const found = sumOf(shards);
    const drift = driftOf(expected, found, magnitudeOf(shards));
    if (drift === 0 || dryRun) return { expected, found, drift, corrected: false, asOf };

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

function storedSource(counter: DocumentSnapshot): Source {
  const stored: unknown = counter.get("source");
  if (stored !== undefined) return parseSource(stored).source;
  throw new CounterError(
    "counter/invalid-source",
    `"${counter.id}" has no source of truth; name one with setSource, or pass { source }`,
  );
}

/** What an earlier commit of this call did, although it seemed to fail. */
async function madeBy(correction: DocumentReference): Promise<Reconciliation | undefined> {
  const made = (await correction.get()).data() as CorrectionDocument<Timestamp> | undefined;
  return made && { expected: made.expected, found: made.found, drift: made.by, corrected: true, asOf: made.asOf };
}

/** A source that times out so often in a row is too large; once may have been the connection. */
const TIMEOUTS = 3;

interface Look {
  readonly source: Source;
  readonly expected: number;
  readonly shards: QuerySnapshot;
  readonly asOf: Timestamp;
}

/** Reads source and shards at one instant, and at the same one what the source is, if none is given. */
async function look(ref: CounterRef, given: Source | undefined): Promise<Look> {
  const { firestore, path } = ref;
  return await firestore.runTransaction(
    async (transaction) => {
      const source = given ?? storedSource(await transaction.get(counterDoc(ref)));
      const { expected } = (await transaction.get(sourceAggregation(ref, source))).data();
      if (!Number.isFinite(expected)) throw notANumber(ref, expected);
      const shards = await transaction.get(firestore.collection(shardsPath(path)).select("count"));
      return { source, expected, shards, asOf: shards.readTime };
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
    `the source of "${id}" sums up to ${expected}; correct the documents whose field is not a finite number`,
  );
}
