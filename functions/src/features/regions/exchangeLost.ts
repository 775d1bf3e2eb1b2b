/**
 * For the sweep: repeats exchanges whose task is lost.
 *
 * An exchange writes to the other regions alone, so nothing in the counter's own document tells whether it was made. An index of
 * `exchangeAt` would find the last ones, and hold all publishes to 500 a second, because its values only rise
 * (https://firebase.google.com/docs/firestore/best-practices#hotspots). So each sweep compares some counters with the other regions, from
 * a random place on: with few counters all, with many a share.
 */
import { FieldPath, type QueryDocumentSnapshot } from "firebase-admin/firestore";
import { logger } from "firebase-functions/logger";
import { regionSketchId, SKETCHES } from "../../../../core/src/index.ts";
import type { Backend } from "../../counter/backend.ts";
import type { ScheduledTask } from "../../counter/cause.ts";
import { parseCounter, readCounter } from "../../counter/counterDocument.ts";
import { millis } from "../../counter/fields.ts";
import { logError } from "../../counter/log.ts";
import { randomStart } from "../../counter/randomStart.ts";
import { mergedUntil } from "../../shared/merge.ts";
import { pushTo, sourceOf } from "./push.ts";
import { EXCHANGED } from "./regionHooks.ts";
import { isExchangeLost, isOverdue } from "./regionsPlan.ts";

/** How many counters a sweep compares. */
const MAX_COMPARED = 20;

/** Cost: 1 read per counter, and for each other region 1, or 2 with visitors; with 20 counters or more up to 120 more. */
export async function exchangeLost(backend: Backend): Promise<void> {
  if (!backend.config.regions) return;
  const id = FieldPath.documentId();
  const counters = backend.counters.orderBy(id);
  let { docs } = await counters.limit(MAX_COMPARED).get();
  if (docs.length === MAX_COMPARED) {
    const firstFrom = async (text: string) => (await counters.where(id, ">=", text).limit(1).get()).docs[0]?.id;
    const start = await randomStart((docs[0] as QueryDocumentSnapshot).id, firstFrom);
    docs = (await counters.where(id, ">=", start).limit(MAX_COMPARED).get()).docs;
  }
  await Promise.all(docs.map((counter) => repeatIfLost(backend, counter)));
}

async function repeatIfLost(backend: Backend, snapshot: QueryDocumentSnapshot): Promise<void> {
  const { id: counterId } = snapshot;
  try {
    const lost = await lostExchanges(backend, snapshot);
    const due = Math.ceil(backend.now());
    for (const kind of lost) await backend.schedule({ counterId, due, kind });
    if (lost.size > 0) logger.warn("repeated an exchange with other regions that was lost", { counter: counterId });
  } catch (error) {
    logError("could not repeat an exchange; a later sweep tries again", { counter: counterId, error });
  }
}

/** The kinds of exchanges that a region lacks which can be reached. */
async function lostExchanges(
  backend: Backend,
  snapshot: QueryDocumentSnapshot,
): Promise<ReadonlySet<ScheduledTask["kind"]>> {
  const own = backend.config.regions?.own as string;
  const { published } = parseCounter(snapshot, EXCHANGED);
  const uniquesAsOf = millis(snapshot.get("uniquesAsOf")) ?? undefined;
  const now = backend.now();
  const lost = new Set<ScheduledTask["kind"]>();
  const source = sourceOf(backend);
  await pushTo(source, [...source.otherRegions.keys()], snapshot.id, async (_region, there) => {
    if (published && isOverdue(published.regions?.exchangeAt, now)) {
      const { regions } = await readCounter(there, EXCHANGED);
      if (isExchangeLost(published, regions?.totals[own])) lost.add("exchange");
    }
    if (uniquesAsOf !== undefined && isOverdue(uniquesAsOf, now)) {
      const sketch = await there.collection(SKETCHES).doc(regionSketchId(own)).get();
      if (mergedUntil(sketch) < uniquesAsOf) lost.add("exchangeVisitors");
    }
  });
  return lost;
}
