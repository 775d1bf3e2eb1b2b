/** Loads serverTime.ts where a counter has windows. */
import type { CounterRef } from "./counter.ts";

/**
 * The server's time in milliseconds since the epoch, for the windows of counter documents; 0 if none has windows. Cost: mostly none
 * (serverTime.ts).
 *
 * @param ref - any of the counters
 */
export async function timeFor(ref: CounterRef, documents: readonly { get(field: string): unknown }[]): Promise<number> {
  if (!documents.some((document) => document.get("windows") || document.get("globalWindows"))) return 0;
  return await import("./serverTime.ts").then(
    ({ serverNow }) => serverNow(ref.firestore, ref.path, documents),
    // The file could not be loaded.
    Date.now,
  );
}
