/**
 * The clock and the chance of the code under test: in its bundle, `Date.now`, `Math.random`, `setTimeout`, `console.warn` and
 * `node:timers/promises` are these. One simulation runs at a time.
 */
import { Random } from "../../testkit/random.ts";
import type { Scheduler } from "./scheduler.ts";

let scheduler: Scheduler;
let random = new Random(0, 0, 0);

export function start(simulation: Scheduler, chance: Random): void {
  scheduler = simulation;
  random = chance;
}

export function simulatedNow(): number {
  return Math.floor(scheduler.now / 1_000);
}

export function simulatedRandom(): number {
  return random.next();
}

export function simulatedTimeout<T extends unknown[]>(run: (...args: T) => void, millis: number, ...args: T): void {
  scheduler.in(millis * 1_000, () => run(...args));
}

/** `node:timers/promises`. */
export function setTimeout(millis: number): Promise<void> {
  return scheduler.sleep(millis * 1_000);
}

/** What clients say of a bad connection is no news here. */
export function simulatedWarn(): void {}
