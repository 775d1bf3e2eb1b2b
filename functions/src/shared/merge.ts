/**
 * Merges the pending documents of a counter's subcollection into one document. A merge runs at once if the last one is at
 * least ten seconds ago. Otherwise a task runs it ten seconds after the last one. One merge covers all events until then, so a counter costs the same at any rate.
 */
import type { DocumentReference, DocumentSnapshot, QuerySnapshot } from "firebase-admin/firestore";
import type { Backend } from "../counter/backend.ts";
import type { CounterTask, TaskKinds } from "../counter/cause.ts";
import { coalesce } from "../counter/coalesce.ts";
import { millis } from "../counter/fields.ts";
import { type Millis, toMillis } from "../counter/time.ts";
import type { DocumentEvent } from "./feature.ts";
import { handleLost } from "./handleLost.ts";

/** The event of one write of a pending document. */
export interface PendingEvent {
  readonly counterId: string;
  readonly committedAt: Millis;
}

/** What is merged, and how. */
export interface Merging {
  /** The kind of its tasks. */
  readonly kind: keyof TaskKinds;
  /** The path of a counter → that of the document. All that was committed up to its field `asOf` is merged. */
  readonly target: (counter: string) => string;
  /** The subcollection of a counter that has the pending documents. */
  readonly subcollection: string;
  /** How many of them one merge reads; all by default. */
  readonly limit?: number;
  /**
   * Merges what was read, on the precondition that the document is as it was read before.
   *
   * @returns whether all is merged; if not, the document has changed, or more is pending
   */
  readonly merge: (before: DocumentSnapshot, pending: QuerySnapshot) => Promise<boolean>;
}

/** The least time between two merges of a counter. */
const MERGE_INTERVAL: Millis = 10_000;

/** How long after the read of a merge the task that follows it is due, which must find it committed. */
const FOLLOW_DELAY: Millis = 2_000;

/** Every write up to `asOf` is merged. A scheduled task merges every write up to `scheduled`. */
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

/** The same for the writes of pending documents. A deletion, which a merge makes, is nothing new. */
export function createPendingHandler(backend: Backend, merging: Merging): (event: DocumentEvent) => Promise<void> {
  const handle = createMergeHandler(backend, merging);
  return async ({ after }) => {
    if (!after?.updateTime) return;
    const { id: counterId } = after.ref.parent.parent as DocumentReference;
    await handle({ counterId, committedAt: toMillis(after.updateTime) });
  };
}

/** Runs a task: waits until it is due by this clock, then merges all up to then. */
export async function runMergeTask(backend: Backend, merging: Merging, { counterId, due }: CounterTask): Promise<void> {
  await backend.sleep(due + backend.snapshotLag - backend.now());
  await mergeOrSchedule(backend, merging, counterId, due);
}

/** For the sweep: merges what lost events have left. Cost: that of {@link handleLost}, and of a merge for each counter. */
export function mergeLost(backend: Backend, merging: Merging): Promise<void> {
  return handleLost(backend, backend.counters, merging.subcollection, async (counter, { readTime }) => {
    await mergeOrSchedule(backend, merging, counter.id, toMillis(readTime));
    return true;
  });
}

/** Cost: 1 read. If the last merge is recent, 1 task operation; else 1 read per pending document and the cost of the merge. */
async function mergeOrSchedule(backend: Backend, merging: Merging, counterId: string, at: Millis): Promise<Merged> {
  const { counters, snapshotLag, now, sleep, schedule } = backend;
  const counter = counters.doc(counterId);
  const following = kindThatFollows(backend, merging);
  for (;;) {
    const before = await counter.firestore.doc(merging.target(counter.path)).get();
    const asOf = mergedUntil(before);
    if (at <= asOf - snapshotLag) {
      await scheduleMissed(backend, merging, before);
      return { asOf, scheduled: 0 };
    }
    const due = asOf + MERGE_INTERVAL;
    // A task merges even if this clock is behind: a new one would have its name, and be dropped as a duplicate.
    if (Math.max(now(), at) < due) {
      await schedule({ counterId, due, kind: merging.kind });
      return { asOf, scheduled: due };
    }
    const startedAt = now();
    const all = counter.collection(merging.subcollection);
    const pending = await (merging.limit === undefined ? all : all.limit(merging.limit)).get();
    const readAt = toMillis(pending.readTime);
    const isIncluded = at <= readAt - snapshotLag;
    if (!isIncluded) {
      await sleep(at + snapshotLag - readAt);
      continue;
    }
    // Before the merge: this instance may die after it.
    if (following) await schedule({ counterId, due: Math.ceil(readAt) + FOLLOW_DELAY, kind: following });
    const isMerged = await merging.merge(before, pending);
    // What follows may have read the document before a slow merge: another look at the document finds out.
    const isCertain = pending.empty || !following || now() - startedAt < FOLLOW_DELAY;
    if (isMerged && isCertain) return { asOf: readAt, scheduled: 0 };
  }
}

/** Cost: 1 task operation, if what follows the last merge may have read the document before it was written. */
async function scheduleMissed(backend: Backend, merging: Merging, merged: DocumentSnapshot): Promise<void> {
  const kind = kindThatFollows(backend, merging);
  const updatedAt = merged.updateTime && toMillis(merged.updateTime);
  if (!kind || updatedAt === undefined) return;
  if (updatedAt < Math.ceil(mergedUntil(merged)) + FOLLOW_DELAY) return;
  const { id: counterId } = merged.ref.parent.parent as DocumentReference;
  await backend.schedule({ counterId, due: Math.ceil(updatedAt), kind });
}

function kindThatFollows({ config }: Backend, { kind }: Merging): keyof TaskKinds | undefined {
  return config.plans.map((plan) => plan.follows?.(kind, config)).find((following) => following !== undefined);
}

/** Until when all is merged; 0 if there is no document. */
export function mergedUntil(document: DocumentSnapshot): Millis {
  return millis(document.get("asOf")) ?? 0;
}
