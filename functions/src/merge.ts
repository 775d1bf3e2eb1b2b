/**
 * Merges the pending documents of a counter's subcollection into one document. A merge comes at once if the last one is long ago,
 * else ten seconds after it, by a task. One merge covers all events until then, so a counter costs the same at any rate.
 */
import type { DocumentReference, DocumentSnapshot, Query, QuerySnapshot } from "firebase-admin/firestore";
import type { Backend } from "./backend.ts";
import type { AggregationTask } from "./cause.ts";
import { coalesce } from "./coalesce.ts";
import { millis } from "./fields.ts";
import { type Millis, toMillis } from "./time.ts";

/** The event of one write of a pending document. */
export interface PendingEvent {
  readonly counterId: string;
  readonly committedAt: Millis;
}

/** What is merged, and how. */
export interface Merging {
  /** Of its tasks. */
  readonly kind: NonNullable<AggregationTask["merges"]>;
  /** The path of a counter → that of the document. All that was committed up to its field `asOf` is merged. */
  readonly target: (counter: string) => string;
  /** Whether the other regions get what was merged. */
  readonly isExchanged: boolean;
  /** The pending documents, or some of them. */
  readonly pending: (counter: DocumentReference) => Query;
  /**
   * Merges what was read, on the precondition that the document is as it was read before.
   *
   * @returns whether all is merged; if not, the document has changed, or more is pending
   */
  readonly merge: (before: DocumentSnapshot, pending: QuerySnapshot) => Promise<boolean>;
}

/** The least time between two merges of a counter. */
const MERGE_INTERVAL: Millis = 10_000;

/** A merge is committed by then, or its visitors reach the other regions with the next one. */
const EXCHANGE_DELAY: Millis = 2_000;

/** All that was committed up to `asOf` is merged, and what was up to `scheduled` will be. */
interface Merged {
  readonly asOf: Millis;
  readonly scheduled: Millis;
}

/** The event handler of one instance. It resolves when the write is merged or certain to be; else it rejects, for a retry. */
export function createMergeHandler(backend: Backend, merging: Merging): (event: PendingEvent) => Promise<void> {
  return coalesce<PendingEvent, Merged>({
    keyOf: ({ counterId }) => counterId,
    isCovered: ({ asOf, scheduled }, { committedAt }) => committedAt <= Math.max(asOf - backend.snapshotLag, scheduled),
    handle: ({ counterId, committedAt }) => mergeOrSchedule(backend, merging, counterId, committedAt),
  });
}

/** Runs a task: waits until it is due by this clock, then merges all up to then. */
export async function runMergeTask(
  backend: Backend,
  merging: Merging,
  { counterId, due }: AggregationTask,
): Promise<void> {
  await backend.sleep(due + backend.snapshotLag - backend.now());
  await mergeOrSchedule(backend, merging, counterId, due);
}

/** Cost: 1 read. If the last merge is recent, 1 task operation; else 1 read per pending document and the cost of the merge. */
async function mergeOrSchedule(backend: Backend, merging: Merging, counterId: string, at: Millis): Promise<Merged> {
  const { counters, snapshotLag, now, sleep, schedule } = backend;
  const counter = counters.doc(counterId);
  for (;;) {
    const before = await counter.firestore.doc(merging.target(counter.path)).get();
    const asOf = mergedUntil(before);
    if (at <= asOf - snapshotLag) return { asOf, scheduled: 0 };
    const due = asOf + MERGE_INTERVAL;
    // A task merges even if this clock is behind: a new one would have its name, and be dropped as a duplicate.
    if (Math.max(now(), at) < due) {
      await schedule({ counterId, due, isPoll: false, merges: merging.kind });
      return { asOf, scheduled: due };
    }
    const pending = await merging.pending(counter).get();
    const readAt = toMillis(pending.readTime);
    const isIncluded = at <= readAt - snapshotLag;
    if (!isIncluded) {
      await sleep(at + snapshotLag - readAt);
      continue;
    }
    // Before the merge: an instance that dies after it is not asked to merge again.
    if (backend.config.regions && merging.isExchanged) {
      const exchange = { visitors: true };
      await schedule({ counterId, due: Math.ceil(readAt) + EXCHANGE_DELAY, isPoll: false, exchange });
    }
    if (await merging.merge(before, pending)) return { asOf: readAt, scheduled: 0 };
  }
}

/** Until when all is merged; 0 if there is no document. */
export function mergedUntil(document: DocumentSnapshot): Millis {
  return millis(document.get("asOf")) ?? 0;
}
