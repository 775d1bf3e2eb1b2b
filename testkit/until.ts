/** Waiting for conditions instead of durations. */
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Waits until a condition holds. The default limit is for a slow machine, and does not claim how soon it holds.
 *
 * @param what  names the condition in the error
 * @throws Error after `timeoutMs`
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await sleep(20);
  }
}
