/**
 * Repairs counters whose poll was lost, reconciles the counters that are due, and handles what lost events and exchanges have left of each
 * feature that is on. All run side by side, so that none delays another. Without any feature, a sweep that finds nothing costs 2 reads, once
 * an hour 3.
 */
import type { Backend } from "../counter/backend.ts";
import { PARTS } from "./parts.ts";

export async function runSweep(backend: Backend): Promise<void> {
  const results = await Promise.allSettled(PARTS.map(async (part) => await part.sweep?.(backend)));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
