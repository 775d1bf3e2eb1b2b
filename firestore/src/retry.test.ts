import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DEADLINE_EXCEEDED } from "../../core/src/index.ts";
import { RETRY_FOR_MS, retry } from "./retry.ts";

const warn = vi.spyOn(console, "warn").mockReturnValue();
beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  warn.mockClear();
});

const unanswered = () => new Promise<never>(() => {});

test("calls without an answer warn once after half a minute, all together, and end after half a day", async () => {
  const calls = [retry(unanswered), retry(unanswered)];
  const ended = Promise.allSettled(calls);
  await vi.advanceTimersByTimeAsync(31_000);
  expect(warn).toHaveBeenCalledTimes(1);
  expect(warn.mock.lastCall?.[0]).toContain("still retried");
  await vi.advanceTimersByTimeAsync(RETRY_FOR_MS);
  for (const result of await ended)
    expect(result).toMatchObject({ status: "rejected", reason: { code: DEADLINE_EXCEEDED } });
});

test("a call that ends in time warns of nothing", async () => {
  await expect(retry(async () => "done")).resolves.toBe("done");
  await expect(retry(() => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(warn).not.toHaveBeenCalled();
});
