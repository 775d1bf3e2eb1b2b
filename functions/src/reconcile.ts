/**
 * Reconciles the counters that are due, with the server SDK's `reconcileCounter`, and raises an alarm about what drifted.
 *
 * A counter is due again a whole number of its intervals later, also after a failure. If the function dies before, the
 * counter is still due.
 */
import { FieldValue, type QueryDocumentSnapshot } from "firebase-admin/firestore";
import { reconcileCounter } from "../../admin/src/reconcile.ts";
import { countedCollectionOf, isPreconditionFailure, parseSource } from "../../core/src/index.ts";
import { raiseAlarm } from "./alarm.ts";
import type { Backend } from "./backend.ts";
import type { Millis } from "./config.ts";
import { toMillis, toTimestamp } from "./counterDocument.ts";
import { logError } from "./log.ts";

/** Counters reconciled at the same time: few, because each may have 10,000 shards to hold in memory. */
const PAGE = 4;

/** The next due time after `now`, in step with the last one, which may be long past. */
export function nextDue(due: Millis, every: Millis, now: Millis): Millis {
  return due + Math.max(1, Math.floor((now - due) / every) + 1) * every;
}

/** Cost: 1 read, and per counter due 2 reads, 1 write and what reconciling it costs. */
export async function reconcileDue(backend: Backend): Promise<void> {
  const now = toTimestamp(backend.now());
  const due = backend.counters.where("nextReconcileAt", "<=", now).orderBy("nextReconcileAt").limit(PAGE);
  for (let page = await due.get(); !page.empty; page = await due.startAfter(page.docs.at(-1)).get()) {
    await Promise.all(page.docs.map((counter) => reconcileInTime(backend, counter)));
    if (page.size < PAGE) return;
  }
}

/** How long one counter may hold up the others. */
const TIMEOUT: Millis = 120_000;

async function reconcileInTime(backend: Backend, counter: QueryDocumentSnapshot): Promise<void> {
  const late = backend.sleep(TIMEOUT).then(() => {
    throw new Error(`is not done after ${TIMEOUT / 60_000} minutes; when it is due next, it is tried again`);
  });
  await Promise.race([reconcileOne(backend, counter), late])
    .finally(() => reschedule(backend, counter))
    .catch((error) => {
      logError("could not reconcile a counter", { counter: counter.id, error });
    });
}

async function reconcileOne({ config }: Backend, counter: QueryDocumentSnapshot): Promise<void> {
  const { id, ref } = counter;
  // Its shards are behind its total by design, and every publish puts them right.
  if (countedCollectionOf(id, config.counted)) throw new Error("counts a collection by itself; take its source away");
  const { schedule } = parseSource(counter.get("source"));
  // Not by `counter()`, which remembers every counter as long as the process lives.
  const { expected, found, drift, asOf } = await reconcileCounter({ firestore: ref.firestore, id, path: ref.path });
  if (Math.abs(drift) > schedule.alarmBeyond) {
    await raiseAlarm({ counter: id, expected, found, drift, asOf: asOf.toDate().toISOString() });
  }
}

/** Unless somebody else has: another sweep, or whoever changed the source meanwhile. */
async function reschedule(backend: Backend, counter: QueryDocumentSnapshot): Promise<void> {
  const due = counter.get("nextReconcileAt");
  for (;;) {
    const current = await counter.ref.get();
    if (!current.updateTime || !due.isEqual(current.get("nextReconcileAt"))) return;
    const every = current.get("source")?.everySeconds * 1_000;
    const next = every > 0 ? toTimestamp(nextDue(toMillis(due), every, backend.now())) : FieldValue.delete();
    try {
      await counter.ref.update({ nextReconcileAt: next }, { lastUpdateTime: current.updateTime });
      return;
    } catch (error) {
      if (!isPreconditionFailure(error)) throw error;
    }
  }
}
