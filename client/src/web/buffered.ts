/** Increments that are collected before they are written: a scroll counter, a game's score. */
import { type BufferedCounter, type BufferOptions, createBuffer } from "../../../core/src/index.ts";
import type { Counter, CounterRef } from "./counter.ts";
import { incrementCounter } from "./increment.ts";

/**
 * Collects increments and writes their sum, once per `flushInterval` and when the page is hidden: another tab, another
 * app. `onCounter` shows them at once.
 *
 * What was not written yet is lost when the page crashes, is closed or is left, since browsers then cut its requests: at
 * most `flushInterval` of increments while the device is online. `await close()` before you leave loses none. Written
 * increments that are not acknowledged survive a reload where Firestore's persistence is on.
 *
 * The default rules accept steps of 1 alone, see `maxPending`.
 *
 * Cost: 1 write per interval in which anything was added.
 *
 * @throws CounterError `counter/invalid-option`
 *
 * @example
 * ```ts
 * const scrolls = bufferedCounter(counter(db, "scrolls:home"), { flushInterval: 5_000 });
 * addEventListener("scroll", () => scrolls.increment());
 * ```
 */
export function bufferedCounter(ref: CounterRef, options: BufferOptions = {}): BufferedCounter {
  const counter = ref as Counter;
  const hold = (by: number) => {
    counter._buffered = (counter._buffered ?? 0) + by;
    counter._watcher?._bufferedChanged(by);
  };
  const buffer = createBuffer((by) => incrementCounter(ref, by), hold, options);
  if (typeof document === "undefined") return buffer;
  const flush = () => {
    if (document.visibilityState === "hidden") buffer.flush().catch(() => {});
  };
  document.addEventListener("visibilitychange", flush);
  return {
    ...buffer,
    async close() {
      await buffer.close();
      document.removeEventListener("visibilitychange", flush);
    },
  };
}
