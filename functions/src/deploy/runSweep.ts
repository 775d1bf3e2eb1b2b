/**
 * Repairs counters whose poll was lost, and reconciles the counters that are due. Both run side by side, so that neither delays the
 * other. Without either, a sweep costs 2 reads.
 */
import { repairLostPolls } from "../counter/sweep.ts";
import type { DeployedBackend } from "../features/backend.ts";
import { reconcileDue } from "../features/reconcile/reconcile.ts";

export async function runSweep(backend: DeployedBackend): Promise<void> {
  const results = await Promise.allSettled([reconcileDue(backend), repairLostPolls(backend)]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
