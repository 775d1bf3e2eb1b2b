/** Totals: the published totals of public counters by HTTP, for crowds behind a cache, where a listener each would cost too much. */
import type { Backend } from "../../counter/backend.ts";
import { parseCounter } from "../../counter/counterDocument.ts";
import { nextPublishDue } from "../../counter/interval.ts";
import { defineFeature } from "../../shared/feature.ts";
import { createTotalsHandler } from "./http.ts";
import { createSharedReads, type Reading } from "./sharedReads.ts";
import { totalsPlan } from "./totalsPlan.ts";

export const totals = defineFeature({ ...totalsPlan, onRequest: { totals: createTotals } });

/** The fields of a counter document that a total and the time of the next one depend on. */
const FIELDS = [
  ...["total", "asOf", "rate", "amountRate", "growing", "countReads", "countedCollection"],
  ...["slowSince", "shardDocuments"],
];

function createTotals({ firestore, counters: collection, config, now }: Backend) {
  const read = createSharedReads(readTotals, () => performance.now());
  return createTotalsHandler({ counters: config.totals, read, maxInterval: config.maxInterval, now });

  async function readTotals(ids: readonly string[]): Promise<ReadonlyMap<string, Reading>> {
    const documents = ids.map((id) => collection.doc(id));
    const snapshots = await firestore.getAll(...documents, { fieldMask: FIELDS });
    return new Map(
      snapshots.flatMap((snapshot) => {
        const { published } = parseCounter(snapshot, []);
        if (!published) return [];
        const { total, asOf } = published;
        return [[snapshot.id, { total, asOf: Math.floor(asOf), nextDue: nextPublishDue(published, config) }]];
      }),
    );
  }
}
