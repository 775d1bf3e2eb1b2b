/**
 * Repairs counters whose poll was lost, reconciles the counters that are due, and handles what lost events and exchanges have left of each
 * feature that is on. All run side by side, so that none delays another. Without any feature, a sweep that finds nothing costs 2 reads, once
 * an hour 3.
 */
import { repairLostPolls } from "../counter/sweep.ts";
import type { Millis } from "../counter/time.ts";
import type { DeployedBackend } from "../features/backend.ts";
import { moveLost } from "../features/bridge/bridge.ts";
import { itemMerging } from "../features/items/topItems.ts";
import { mergeLost } from "../features/merge.ts";
import { reconcileDue } from "../features/reconcile/reconcile.ts";
import { exchangeLost } from "../features/regions/exchangeLost.ts";
import { deleteVisitors, visitorMerging } from "../features/visitors/visitors.ts";
import { type Publish, publishLost } from "../ingest/eventLog.ts";

const HOUR: Millis = 3_600_000;

/** Between two sweeps. */
const INTERVAL: Millis = 300_000;

/** @param publish  publishes records of the event log, if there is one */
export async function runSweep(backend: DeployedBackend, publish?: Publish): Promise<void> {
  const { visitors, items } = backend.config;
  // Most deployments count no visitors, and have no hashes of any.
  const isHourly = backend.now() % HOUR < INTERVAL;
  const results = await Promise.allSettled([
    reconcileDue(backend),
    repairLostPolls(backend),
    visitors !== "no" && mergeLost(backend, visitorMerging),
    visitors === "no" && isHourly && deleteVisitors(backend),
    items && mergeLost(backend, itemMerging),
    publish && publishLost(backend, publish),
    moveLost(backend),
    exchangeLost(backend),
  ]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
