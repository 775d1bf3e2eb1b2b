/**
 * Lets a number of calls be under way at a time. The others wait in their order.
 *
 * A call that lasts longer than `timeout` gives its place away, and goes on: calls that Firestore holds back, as where a document is
 * locked, hold back no others.
 */
import { setTimeout as sleep } from "node:timers/promises";

/** Makes a call when it has a place. */
export type Gate = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * @param places   how many calls are under way at a time
 * @param timeout  milliseconds
 */
export function createGate(places: number, timeout: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }

  return async (call) => {
    if (free > 0) free--;
    else await new Promise<void>((enter) => waiting.push(enter));
    const done = call();
    const ended = done.then(
      () => {},
      () => {},
    );
    void Promise.race([ended, sleep(timeout, undefined, { ref: false })]).then(leave);
    return await done;
  };
}
