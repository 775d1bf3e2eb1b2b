/**
 * Limits how many calls are under way at a time. The others wait in their order.
 *
 * A call that lasts longer than the timeout gives its permit to another one, and goes on. So calls that Firestore holds back, as where a
 * document is locked, hold back no others.
 */
import { withTimeout } from "../../firestore/src/index.ts";

/** Makes a call once it has a permit. */
export type Semaphore = <T>(call: () => Promise<T>) => Promise<T>;

/** @param timeout  milliseconds */
export function createSemaphore(permits: number, timeout: number): Semaphore {
  let free = permits;
  const waiting: (() => void)[] = [];

  function release(): void {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }

  return async (call) => {
    if (free > 0) free--;
    else await new Promise<void>((acquire) => waiting.push(acquire));
    const result = call();
    void withTimeout(timeout, result)
      .catch(() => {})
      .finally(release);
    return await result;
  };
}
