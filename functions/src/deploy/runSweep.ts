/**
 * Runs the sweep of the counter and of each feature side by side, so that none delays another. Cost if it finds nothing and all features are
 * off: 2 reads, once an hour 3.
 */
import type { Backend } from "../counter/backend.ts";
import { ALL_FEATURES } from "./allFeatures.ts";

export async function runSweep(backend: Backend): Promise<void> {
  const results = await Promise.allSettled(ALL_FEATURES.map(async (feature) => await feature.sweep?.(backend)));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
