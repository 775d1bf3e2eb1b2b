/**
 * Looks after the counters that the last publish left unsettled, now that nobody writes them: rates decay, counts
 * shrink, surplus shards are folded, and a counter whose scheduled aggregation was lost is brought up to date. Then those
 * that are due are reconciled.
 *
 * It queries those counters only. With none unsettled and none due, a sweep costs 2 reads.
 */
import type { QueryDocumentSnapshot } from "firebase-admin/firestore";
import { logger } from "firebase-functions";
import { SHARDS } from "../../core/src/index.ts";
import { aggregate } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import type { Config, Millis } from "./config.ts";
import { type Published, parseCounter } from "./counter.ts";
import { fold, foldable } from "./fold.ts";
import { logError } from "./log.ts";
import { measure } from "./measure.ts";
import { isPolled, outlookOf } from "./outlook.ts";
import { reconcileDue } from "./reconcile.ts";

/** Counters attended to at the same time: few, because each may have 10,000 shards to hold in memory. */
const PAGE = 8;

/**
 * What a sweep makes of a counter: it rests until it may shrink; somebody looks after its total already, so that only
 * its surplus shards are of interest; or it is to be aggregated.
 */
export type Need = "resting" | "attended" | "due";

export function needOf(counter: Published, now: Millis, margin: Millis, config: Config): Need {
  const cooling = counter.calmSince !== null && now < counter.calmSince + config.shrinkCooldown;
  if (counter.rate === 0 && cooling) return "resting";
  const { coveredUntil, due } = outlookOf(counter, margin, config);
  return now < Math.max(coveredUntil, due) ? "attended" : "due";
}

export async function sweep(backend: Backend): Promise<void> {
  await settleAll(backend);
  await reconcileDue(backend);
}

/** Cost: 1 read per unsettled counter; unless it rests, 1 per shard of it; what publishing and folding cost. */
async function settleAll(backend: Backend): Promise<void> {
  const unsettled = backend.counters.where("unsettled", "==", true).orderBy("__name__").limit(PAGE);
  for (let page = await unsettled.get(); !page.empty; page = await unsettled.startAfter(page.docs.at(-1)).get()) {
    await Promise.all(page.docs.map((counter) => settle(backend, counter)));
    if (page.size < PAGE) return;
  }
}

async function settle(backend: Backend, snapshot: QueryDocumentSnapshot): Promise<void> {
  const { config, firestore, margin, now } = backend;
  const shards = snapshot.ref.collection(SHARDS);
  const before = parseCounter(snapshot);
  const need = before ? needOf(before, now(), margin, config) : "due";
  if (need === "resting") return;
  try {
    // Anything newer than the last publish will do: the sweep wants one measurement, not one of a certain write.
    const wanted = { committedAt: before ? before.asOf + 1 : 0 };
    const { counter, measurement } =
      before && need === "attended"
        ? { counter: before, measurement: await measure(shards) }
        : await aggregate(backend, snapshot, wanted);
    if (before && isPolled(before, config) && need === "due" && counter.total !== before.total) {
      logger.warn("repaired a counter whose aggregation was overdue", {
        counter: snapshot.id,
        from: before.total,
        to: counter.total,
      });
    }
    const folded = measurement ? await fold(firestore, shards, foldable(measurement, counter.shardCount, config)) : 0;
    if (folded > 0) logger.info("folded", { counter: snapshot.id, shards: folded });
  } catch (error) {
    logError("could not settle a counter; the next sweep tries again", { counter: snapshot.id, error });
  }
}
