/**
 * Repairs what was lost: a polled counter whose next measurement never came, because a task was lost or failed for a day,
 * is measured again, and so polled again. Then the counters that are due are reconciled.
 *
 * It queries those counters only that the last publish left unsettled. With none unsettled and none due, a sweep costs 2
 * reads.
 */
import type { QueryDocumentSnapshot } from "firebase-admin/firestore";
import { logger } from "firebase-functions";
import { aggregate } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import type { Config, Millis } from "./config.ts";
import { type Published, seen } from "./counter.ts";
import { logError } from "./log.ts";
import { isPolled, outlookOf } from "./outlook.ts";
import { reconcileDue } from "./reconcile.ts";

/** Counters attended to at the same time: few, because each may have 10,000 shards to hold in memory. */
const PAGE = 8;

/** Whether nobody is certain to measure a counter soon, so that the sweep should. */
export function isOverdue(counter: Published, now: Millis, margin: Millis, config: Config): boolean {
  const { coveredUntil, due } = outlookOf(counter, margin, config);
  return now >= Math.max(coveredUntil, due);
}

export async function sweep(backend: Backend): Promise<void> {
  await settleAll(backend);
  await reconcileDue(backend);
}

/** Cost: 1 read per unsettled counter; if it is overdue, what an aggregation costs. */
async function settleAll(backend: Backend): Promise<void> {
  const unsettled = backend.counters.where("unsettled", "==", true).orderBy("__name__").limit(PAGE);
  for (let page = await unsettled.get(); !page.empty; page = await unsettled.startAfter(page.docs.at(-1)).get()) {
    await Promise.all(page.docs.map((counter) => settle(backend, counter)));
    if (page.size < PAGE) return;
  }
}

async function settle(backend: Backend, snapshot: QueryDocumentSnapshot): Promise<void> {
  const { config, margin, now } = backend;
  const counter = seen(snapshot);
  const before = counter.published;
  if (before && !isOverdue(before, now(), margin, config)) return;
  try {
    // Anything newer than the last publish will do: the sweep wants one measurement, not one of a certain write.
    const { counter: after } = await aggregate(backend, counter, { committedAt: before ? before.asOf + 1 : 0 });
    if (before && isPolled(before, config) && after.total !== before.total) {
      logger.warn("repaired a counter whose aggregation was overdue", {
        counter: snapshot.id,
        from: before.total,
        to: after.total,
      });
    }
  } catch (error) {
    logError("could not settle a counter; the next sweep tries again", { counter: snapshot.id, error });
  }
}
