/** Collects increments before writing them: for a scroll counter or the score of a game. */
import { type BufferedCounter, type BufferOptions, createBuffer } from "../../../core/src/index.ts";
import type { Counter, CounterRef } from "./counter.ts";
import { incrementCounter } from "./increment.ts";

/**
 * Collects increments and writes their sum once per `flushInterval`, and when the page becomes hidden. `onCounter` shows them
 * at once.
 *
 * Increments that are not written yet are lost when the page crashes, is closed or is left, because browsers then cut its
 * requests: while the device is online, those of one `flushInterval` at most. After `await close()` none are lost. With
 * Firestore's persistence, written increments that are not acknowledged survive a reload.
 *
 * The default rules accept an amount of 1 alone, see `maxPending`.
 *
 * Cost: 1 write per interval with increments.
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
  const bufferedChanged = (by: number) => {
    counter._buffered = (counter._buffered ?? 0) + by;
    counter._watcher?._bufferedChanged(by);
  };
  const buffer = createBuffer((by) => incrementCounter(ref, by), bufferedChanged, options);
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
