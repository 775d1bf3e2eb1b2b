/**
 * Looks after the counters that the last publish left unsettled, now that nobody writes them: rates decay, counts
 * shrink, surplus shards are folded, and a counter whose scheduled aggregation was lost is brought up to date.
 *
 * It queries those counters only. With none unsettled a sweep costs 1 read.
 */
import type { QueryDocumentSnapshot } from "firebase-admin/firestore";
import { logger } from "firebase-functions";
import { SHARDS } from "../../core/src/index.ts";
import { aggregate } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import type { Config, Millis } from "./config.ts";
import { type Published, parseCounter } from "./counter.ts";
import { fold, foldable } from "./fold.ts";
import { isPolled, outlookOf } from "./outlook.ts";

/** Counters attended to at the same time. */
const PAGE = 25;

/** What a sweep makes of a counter: it is looked after already, it rests until it may shrink, or it needs a look. */
export type Need = "attended" | "resting" | "look";

export function needOf(counter: Published, now: Millis, margin: Millis, config: Config): Need {
  if (now < outlookOf(counter, margin, config).coveredUntil) return "attended";
  const cooling = counter.calmSince !== null && now < counter.calmSince + config.shrinkCooldown;
  return counter.rate === 0 && cooling ? "resting" : "look";
}

/** Cost: 1 read per unsettled counter; for those that need a look, what an aggregation and a fold cost. */
export async function sweep(backend: Backend): Promise<void> {
  const unsettled = backend.counters.where("unsettled", "==", true).orderBy("__name__").limit(PAGE);
  for (let page = await unsettled.get(); !page.empty; page = await unsettled.startAfter(page.docs.at(-1)).get()) {
    await Promise.all(page.docs.map((counter) => settle(backend, counter)));
    if (page.size < PAGE) return;
  }
}

async function settle(backend: Backend, snapshot: QueryDocumentSnapshot): Promise<void> {
  const { config, margin, now } = backend;
  const before = parseCounter(snapshot);
  if (before && needOf(before, now(), margin, config) !== "look") return;
  try {
    const { counter, measurement } = await aggregate(backend, snapshot, { committedAt: now() });
    if (!measurement) return;
    if (before && isPolled(before, config) && counter.total !== before.total) {
      logger.warn("repaired a counter whose aggregation was overdue", {
        counter: snapshot.id,
        from: before.total,
        to: counter.total,
      });
    }
    const quiet = foldable(measurement, counter.shardCount, config);
    const folded = await fold(backend.firestore, snapshot.ref.collection(SHARDS), quiet);
    if (folded > 0) logger.info("folded", { counter: snapshot.id, shards: folded });
  } catch (error) {
    logger.error("could not settle a counter; the next sweep tries again", { counter: snapshot.id, error });
  }
}
