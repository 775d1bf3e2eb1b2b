/** Increments that are collected before they are written. */
import { type BufferedCounter, type BufferedCounterOptions, createBuffer } from "../../core/src/index.ts";
import { type CounterRef, counterDoc } from "./counter.ts";
import { incrementCounter } from "./increment.ts";

/**
 * Collects increments and writes their sum once per `flushInterval`. A crash loses the increments that are not written yet.
 * Call `close` before the process ends.
 *
 * Cost: one {@link incrementCounter} per interval in which anything was added: 2 writes, and 1 delete a day later. More only
 * with `maxPending`, which has no default here.
 *
 * @throws CounterError `counter/invalid-option`
 *
 * @example
 * ```ts
 * const requests = bufferedCounter(counter(db, "requests:api"), { flushInterval: 5_000 });
 * server.on("request", () => requests.increment());
 * process.on("SIGTERM", async () => { await requests.close(); process.exit(); });
 * ```
 */
export function bufferedCounter(ref: CounterRef, options: BufferedCounterOptions = {}): BufferedCounter {
  // First, because it refuses what is no reference.
  counterDoc(ref);
  return createBuffer(
    (by) => incrementCounter(ref, by),
    () => {},
    { ...options, maxPending: options.maxPending ?? Number.POSITIVE_INFINITY },
  );
}
