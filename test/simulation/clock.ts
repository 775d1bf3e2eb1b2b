/**
 * The clock and the random numbers of the code under test. In its bundle, this module replaces `Date.now`, `performance.now`, `Math.random`,
 * `setTimeout`, `clearTimeout`, `console.warn`, Web Crypto, `localStorage` and `node:timers/promises`. One simulation runs at a time.
 */
import { createHash } from "node:crypto";
import { Random } from "../../core/testing/random.ts";
import { planted } from "./mutations/mutation.ts";
import type { Event, Scheduler } from "./scheduler.ts";

let scheduler: Scheduler;
let random = new Random(0, 0, 0);

export function startClock(ofSimulation: Scheduler, randomNumbers: Random): void {
  scheduler = ofSimulation;
  random = randomNumbers;
}

export function simulatedNow(): number {
  return Math.floor(scheduler.now / 1_000);
}

export function simulatedRandom(): number {
  return planted.random?.(random) ?? random.next();
}

export function simulatedTimeout<T extends unknown[]>(run: (...args: T) => void, millis = 0, ...args: T): Event {
  return scheduler.after((planted.timer?.(millis) ?? millis) * 1_000, () => run(...args));
}

export function simulatedClear(timer: Event | undefined): void {
  if (timer) timer.isCancelled = true;
}

/** Replaces `setTimeout` of `node:timers/promises`. */
export function setTimeout(millis: number): Promise<void> {
  return scheduler.sleep(millis * 1_000);
}

/** Web Crypto's digests come from other threads, at any time. */
export const simulatedDigests = {
  async digest(_algorithm: string, data: Uint8Array): Promise<ArrayBuffer> {
    const digest = createHash("sha256").update(data).digest();
    return digest.buffer.slice(digest.byteOffset, digest.byteOffset + digest.length) as ArrayBuffer;
  },
};

/** A browser that forgets, so that the same visitor is written again. */
export const simulatedStorage = { getItem: () => "", setItem: () => {} };

/** Clients warn of bad connections, which are injected here. */
export function simulatedWarn(): void {}
