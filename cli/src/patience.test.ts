import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Left, patiently } from "./patience.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;
const forever = new Promise<never>(() => undefined);

test("work that moves is waited for, however long it takes", async () => {
  const work = patiently(async (moved) => {
    for (let minute = 0; minute < 60; minute += 4) {
      await new Promise((resolve) => setTimeout(resolve, 4 * MINUTE));
      moved();
    }
    return "done";
  });
  await vi.advanceTimersByTimeAsync(61 * MINUTE);
  expect(await work).toBe("done");
  expect(vi.getTimerCount()).toBe(0);
});

test("work that does not move is left, and fails", async () => {
  const end = patiently(() => forever).catch((error) => error);
  await vi.advanceTimersByTimeAsync(6 * MINUTE);
  const { exitCode, message } = await end;
  expect(exitCode).toBe(1);
  expect(message).toContain("5 minutes; gave up");
});

test("Ctrl-C leaves it at once, and is nobody's afterwards", async () => {
  const before = process.listenerCount("SIGINT");
  const end = expect(patiently(() => forever)).rejects.toBeInstanceOf(Left);
  process.emit("SIGINT");
  await end;
  expect([process.listenerCount("SIGINT"), vi.getTimerCount()]).toEqual([before, 0]);
});

test("an error of its own is passed on", async () => {
  await expect(patiently(() => Promise.reject(new TypeError("its own")))).rejects.toThrow(TypeError);
});
