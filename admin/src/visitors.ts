/** Unique visitors, counted by a server: any text may be a visitor. Security rules do not apply. */
import { FieldValue } from "firebase-admin/firestore";
import {
  ABORTED,
  bucketOf,
  codeOf,
  hashRank,
  Sketch,
  type StoredSketch,
  sketchPath,
  uniquesPath,
  validVisitor,
  visitorHash,
} from "../../core/src/index.ts";
import { type CallOptions, retry, withReadTimeout, withSignal } from "../../firestore/src/index.ts";
import { type Counter, type CounterRef, firestoreOf, refreshShardCount } from "./counter.ts";

/**
 * Counts a visitor of a counter, once however often it is called, from wherever. The estimate is `uniques` of each snapshot,
 * some 10 seconds later: exact up to 1,536 visitors, with a standard error of 0.81 % beyond. For two minutes after the visitors
 * were forgotten, one may be left out because it could not change the estimate before.
 *
 * Cost: 1 write; none if the visitor can change no estimate, as 63 of 64 among 10 million. And 1 read per process and counter,
 * repeated after two minutes or 20 increments, or once a second while the counter has no total.
 *
 * @param visitor - a user's uid, as on the web, or any other text, such as a session or an address
 * @throws CounterError `counter/invalid-visitor`; `counter/unknown-outcome` if the `signal` is aborted
 *
 * @example
 * ```ts
 * await countVisitor(counter(db, "views:home"), session.id);
 * ```
 */
export async function countVisitor(ref: CounterRef, visitor: string, options?: CallOptions): Promise<void> {
  validVisitor(visitor);
  firestoreOf(ref);
  await withSignal(options, () => addVisitor(ref, visitor));
}

async function addVisitor(ref: CounterRef, visitor: string): Promise<void> {
  const hash = await visitorHash(visitor);
  const counter = ref as Counter;
  const firestore = firestoreOf(ref);
  await refreshShardCount(counter);
  const { floor = 0, buckets = 16 } = counter._uniques ?? {};
  if (hashRank(hash) <= floor) return;
  let isContended = false;
  await retry(async () => {
    const bucketId = bucketOf(hash, isContended ? 256 : buckets);
    const bucket = firestore.doc(`${uniquesPath(ref.path)}/${bucketId}`);
    try {
      await bucket.set({ visitors: FieldValue.arrayUnion(hash) }, { merge: true });
    } catch (error) {
      isContended ||= codeOf(error) === ABORTED;
      throw error;
    }
  });
}

/**
 * Reads how many different visitors several counters have had together: pages of a site, or days of a page. Visitors of the
 * last 10 seconds may be missing. Cost: 1 read per counter.
 *
 * @example
 * ```ts
 * const week = days.map((day) => counter(db, `visitors:${day}`));
 * const readers = await getUniques(week);
 * ```
 */
export async function getUniques(refs: readonly CounterRef[]): Promise<number> {
  const stored = await Promise.all(
    refs.map((ref) => withReadTimeout(firestoreOf(ref).doc(sketchPath(ref.path)).get())),
  );
  const union = new Sketch();
  for (const sketch of stored) {
    if (sketch.exists) union.merge(Sketch.parse(sketch.data() as StoredSketch));
  }
  return Math.round(union.estimate());
}
