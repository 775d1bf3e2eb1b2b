import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { interruptible, OutcomeUnknown } from "./interruptible.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTE = 60_000;
const forever = new Promise<never>(() => undefined);

test("work that makes progress may take any time", async () => {
  const work = interruptible(async (madeProgress) => {
    for (let minute = 0; minute < 60; minute += 4) {
      await new Promise((resolve) => setTimeout(resolve, 4 * MINUTE));
      madeProgress();
    }
    return "done";
  });
  await vi.advanceTimersByTimeAsync(61 * MINUTE);
  expect(await work).toBe("done");
  expect(vi.getTimerCount()).toBe(0);
});

test("work that stalls is abandoned with exit code 1", async () => {
  const end = interruptible(() => forever).catch((error) => error);
  await vi.advanceTimersByTimeAsync(6 * MINUTE);
  const { exitCode, message } = await end;
  expect(exitCode).toBe(1);
  expect(message).toBe("gave up without progress for 5 minutes");
});

test("Ctrl-C abandons the work at once; no listener or timer is left", async () => {
  const before = process.listenerCount("SIGINT");
  const end = expect(interruptible(() => forever)).rejects.toBeInstanceOf(OutcomeUnknown);
  process.emit("SIGINT");
  await end;
  expect([process.listenerCount("SIGINT"), vi.getTimerCount()]).toEqual([before, 0]);
});

test("an error of the work is passed on", async () => {
  await expect(interruptible(() => Promise.reject(new TypeError("own")))).rejects.toThrow(TypeError);
});
