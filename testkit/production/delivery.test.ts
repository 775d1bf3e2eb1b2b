/** Events, tasks and their retries. */
import { expect, test } from "vitest";
import { randomFor } from "../../core/testing/random.ts";
import { RETRY_CONFIG } from "../../functions/src/deploy/taskLimits.ts";
import { eventBytes, eventDelays, isEventLost } from "./events.ts";
import { EVENT_RETRIES, type Retries, retryAfter, TASK_RETRIES } from "./invocations.ts";
import { TaskNames, taskDelays } from "./tasks.ts";

const HOUR = 3_600_000;

/** The pauses between the attempts of an invocation that fails at once, each time. */
function pauses(retries: Retries): number[] {
  const all: number[] = [];
  for (let age = 0; ; age += all.at(-1) ?? 0) {
    const wait = retryAfter(all.length + 1, age, retries);
    if (wait === undefined) return all;
    all.push(wait);
  }
}

test("an event is retried after 10 to 600 seconds, for 24 hours", () => {
  const all = pauses(EVENT_RETRIES);
  expect([all[0], all.at(-1)]).toEqual([10_000, 600_000]);
  const lasts = all.reduce((sum, one) => sum + one);
  expect(lasts).toBeLessThanOrEqual(24 * HOUR);
  expect(lasts).toBeGreaterThan(23 * HOUR);
});

test("a task is retried as its queue is deployed", () => {
  const { first, longest, attempts = 0 } = TASK_RETRIES;
  const seconds = { minBackoffSeconds: first / 1_000, maxBackoffSeconds: longest / 1_000 };
  expect(RETRY_CONFIG).toEqual({ maxAttempts: attempts, ...seconds });
  expect(pauses(TASK_RETRIES)).toHaveLength(attempts - 1);
});

test("the document before and after a write share the 512 kB of an event", () => {
  const half = { bytes: new Uint8Array(255_000) };
  expect(isEventLost(eventBytes(half, half))).toBe(false);
  expect(isEventLost(eventBytes(half, { bytes: new Uint8Array(260_000) }))).toBe(true);
  expect(isEventLost(eventBytes(undefined, { bytes: new Uint8Array(260_000) }))).toBe(false);
});

test("a task's name is taken while the task exists, and for an hour after it has run", () => {
  const names = new TaskNames();
  expect([names.take("a", 0), names.take("a", 100 * HOUR), names.take("b", 0)]).toEqual([true, false, true]);
  names.done("a", 100 * HOUR);
  expect([101 * HOUR - 1, 101 * HOUR, 101 * HOUR].map((now) => names.take("a", now))).toEqual([false, true, false]);
});

test("events and tasks come soon and once, but for faults", () => {
  const random = randomFor(1, "deliveries");
  for (const delays of [eventDelays, taskDelays]) {
    for (let i = 0; i < 1_000; i++) {
      const usual = delays(random, 1, () => false);
      expect(usual).toHaveLength(1);
      expect(usual[0]).toBeLessThanOrEqual(120);
      expect(delays(random, 1, () => true)).toHaveLength(2);
    }
  }
});
