/**
 * The CPU and memory that functions take: each instance has one CPU and half a GiB, and serves many calls at a time.
 *
 * Functions of the 2nd generation are billed as Cloud Run, whose prices in us-central1 and free quota are from undated copies of
 * https://cloud.google.com/run/pricing.
 */
import { MONTH_SECONDS } from "./traffic.ts";

/** US dollars. */
export const INSTANCE_PRICES = { cpuSecond: 24e-6, gibSecond: 2.5e-6 } as const;

/** In a month, of a billing account. */
const FREE_SECONDS = { cpu: 180_000, gib: 360_000 } as const;

const INSTANCE = { cpus: 1, gib: 0.5 } as const;

/** The shortest time for which a call is billed. */
export const CALL_SECONDS = 0.1;

/** What each document that a call reads adds. */
export const READ_SECONDS = 0.001;

/** Calls per second that an instance serves. */
export const CALLS_PER_INSTANCE = 500;

/**
 * Seconds of all instances in a month: at least one instance while there is a call, more when there are many.
 *
 * @param seconds  duration of all calls of a month, one after the other
 * @param calls    number of calls in a month
 */
export function instanceSeconds(seconds: number, calls: number): number {
  const busy = 1 - Math.exp(-seconds / MONTH_SECONDS);
  return Math.max(busy, calls / MONTH_SECONDS / CALLS_PER_INSTANCE) * MONTH_SECONDS;
}

/** Dollars for an instance that runs for some seconds, or for some instances that run for one. */
export function instanceDollars(seconds: number): number {
  return priceOf(INSTANCE.cpus * seconds, INSTANCE.gib * seconds);
}

/** The part of {@link instanceDollars} that is free in a month. */
export function freeInstanceDollars(seconds: number): number {
  return priceOf(
    Math.min(INSTANCE.cpus * seconds, FREE_SECONDS.cpu),
    Math.min(INSTANCE.gib * seconds, FREE_SECONDS.gib),
  );
}

function priceOf(cpuSeconds: number, gibSeconds: number): number {
  return cpuSeconds * INSTANCE_PRICES.cpuSecond + gibSeconds * INSTANCE_PRICES.gibSecond;
}
