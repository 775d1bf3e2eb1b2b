/**
 * The clock and the random numbers of the code under test. In its bundle, this module replaces `Date.now`, `performance.now`, `Math.random`,
 * `setTimeout`, `clearTimeout`, `console.warn`, Web Crypto, `localStorage` and `node:timers/promises`. One simulation runs at a time.
 */
import { createHash } from "node:crypto";
import { type Random, randomFor } from "../../core/testing/random.ts";
import type { Faults } from "./faults.ts";
import { planted } from "./mutations/mutation.ts";
import type { Event, Scheduler } from "./scheduler.ts";

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;
const CLOCK_ERRORS = [-DAY, -10 * MINUTE, -MINUTE, MINUTE, 10 * MINUTE, DAY] as const;

let scheduler: Scheduler;
let random: Random;
let deviceRandom: Random;
let faults: Faults;

export function startClock(ofSimulation: Scheduler, seed: number, ofRun: Faults): void {
  scheduler = ofSimulation;
  random = randomFor(seed, "chance");
  deviceRandom = randomFor(seed, "device clocks");
  faults = ofRun;
}

export function simulatedNow(): number {
  return Math.floor(scheduler.now / 1_000);
}

/** By how many milliseconds the clock of the device is ahead that plans an increment now: ten minutes or a day, or behind. */
export function deviceClockError(): number {
  const [isWrong, size] = [deviceRandom.chance(0.3), deviceRandom.pick(CLOCK_ERRORS)];
  return isWrong && faults.inject("wrong device clocks") ? size : 0;
}

export function simulatedRandom(): number {
  return planted.random?.(random) ?? random.next();
}

export function simulatedTimeout<T extends unknown[]>(run: (...args: T) => void, millis = 0, ...args: T): Event {
  return scheduler.after(millis * 1_000, () => run(...args));
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
