/**
 * Repairs counters whose poll was lost, reconciles the counters that are due, and handles what lost events and exchanges have left of each
 * feature that is on. All run side by side, so that none delays another. Without any feature, a sweep that finds nothing costs 2 reads.
 */
import { repairLostPolls } from "../counter/sweep.ts";
import type { DeployedBackend } from "../features/backend.ts";
import { moveLost } from "../features/bridge/bridge.ts";
import { itemMerging } from "../features/items/topItems.ts";
import { mergeLost } from "../features/merge.ts";
import { reconcileDue } from "../features/reconcile/reconcile.ts";
import { exchangeLost } from "../features/regions/exchangeLost.ts";
import { deleteVisitors, visitorMerging } from "../features/visitors/visitors.ts";
import { type Publish, publishLost } from "../ingest/eventLog.ts";

/** @param publish  publishes records of the event log, if there is one */
export async function runSweep(backend: DeployedBackend, publish?: Publish): Promise<void> {
  const { visitors, items } = backend.config;
  const results = await Promise.allSettled([
    reconcileDue(backend),
    repairLostPolls(backend),
    visitors === "no" ? deleteVisitors(backend) : mergeLost(backend, visitorMerging),
    items && mergeLost(backend, itemMerging),
    publish && publishLost(backend, publish),
    moveLost(backend),
    exchangeLost(backend),
  ]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
