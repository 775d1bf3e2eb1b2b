/**
 * Reconciles the counters that are due, with the server SDK's `reconcileCounter`, and raises an alarm about drift. A counter
 * is due again a whole number of its intervals later, also after a failure; after a crash it is still due.
 */
import { FieldPath, FieldValue, type QueryDocumentSnapshot } from "firebase-admin/firestore";
import { reconcileCounter } from "../../../../admin/src/index.ts";
import { countedCollectionOf, isPreconditionFailure, parseSource } from "../../../../core/src/index.ts";
import type { Backend } from "../../counter/backend.ts";
import { toTimestamp } from "../../counter/fields.ts";
import { logError } from "../../counter/log.ts";
import { type Millis, toMillis } from "../../counter/time.ts";
import { raiseAlarm } from "./alarm.ts";

/** Counters reconciled at the same time: few, because up to 10,000 shards of each are held in memory. */
const PAGE_SIZE = 4;

/** How long one counter may delay the others. */
const TIMEOUT: Millis = 120_000;

/** The first due time after `now`, in step with the last one, which may be long past. */
export function nextReconcileTime(due: Millis, every: Millis, now: Millis): Millis {
  return due + Math.max(1, Math.floor((now - due) / every) + 1) * every;
}

/** Cost: 1 read, and for each counter that is due 2 reads, 1 write and what reconciling it costs. */
export async function reconcileDue(backend: Backend): Promise<void> {
  const now = toTimestamp(backend.now());
  const all = backend.counters.where("nextReconcileAt", "<=", now);
  const due = all.orderBy("nextReconcileAt").orderBy(FieldPath.documentId()).limit(PAGE_SIZE);
  for (let page = await due.get(); !page.empty; page = await due.startAfter(page.docs.at(-1)).get()) {
    await Promise.all(page.docs.map((counter) => reconcileWithTimeout(backend, counter)));
    if (page.size < PAGE_SIZE) return;
  }
}

async function reconcileWithTimeout(backend: Backend, counter: QueryDocumentSnapshot): Promise<void> {
  const timeout = backend.sleep(TIMEOUT).then(() => {
    throw new Error(`is not done after ${TIMEOUT / 60_000} minutes; it is tried again when it is due next`);
  });
  await Promise.race([reconcile(backend, counter), timeout])
    .finally(() => reschedule(backend, counter))
    .catch((error) => logError("could not reconcile a counter", { counter: counter.id, error }));
}

async function reconcile({ config }: Backend, counter: QueryDocumentSnapshot): Promise<void> {
  const { id, ref } = counter;
  // The shards of such a counter do not add up to its total, by design. Every publish corrects the total.
  if (countedCollectionOf(id, config.collections)) throw new Error("counts a collection by itself; remove its source");
  const { schedule } = parseSource(counter.get("source"));
  // `counter()` would keep each counter in memory as long as the process lives.
  const reconciliation = await reconcileCounter({ firestore: ref.firestore, id, path: ref.path });
  if (Math.abs(reconciliation.drift) > schedule.alarmBeyond) await raiseAlarm(id, reconciliation);
}

/** Sets the next due time, unless another sweep has, or the source was changed meanwhile. */
async function reschedule(backend: Backend, counter: QueryDocumentSnapshot): Promise<void> {
  const due = counter.get("nextReconcileAt");
  for (;;) {
    const current = await counter.ref.get();
    if (!current.updateTime || !due.isEqual(current.get("nextReconcileAt"))) return;
    const every = current.get("source")?.everySeconds * 1_000;
    const next = every > 0 ? toTimestamp(nextReconcileTime(toMillis(due), every, backend.now())) : FieldValue.delete();
    try {
      await counter.ref.update({ nextReconcileAt: next }, { lastUpdateTime: current.updateTime });
      return;
    } catch (error) {
      if (!isPreconditionFailure(error)) throw error;
    }
  }
}
