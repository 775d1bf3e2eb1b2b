import { expect, test } from "vitest";
import { createSemaphore } from "./semaphore.ts";

/** Calls that end when they are told to. */
function calls() {
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const call = (n: number) => () => {
    begun.push(n);
    return new Promise<number>((end) => {
      ends[n] = () => end(n);
    });
  };
  return { begun, call, end: (n: number) => ends[n]?.() };
}

test("so many calls are under way at a time; the others follow in their order", async () => {
  const semaphore = createSemaphore(2, 60_000);
  const { begun, call, end } = calls();
  const results = [0, 1, 2, 3].map((n) => semaphore(call(n)));
  expect(begun).toEqual([0, 1]);
  end(1);
  await expect(results[1]).resolves.toBe(1);
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  end(0);
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
});

test("a call that fails gives its permit back", async () => {
  const semaphore = createSemaphore(1, 60_000);
  await expect(semaphore(() => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  await expect(semaphore(async () => "next")).resolves.toBe("next");
});

test("a call that lasts too long gives its permit to another one, and still ends", async () => {
  const semaphore = createSemaphore(1, 10);
  const { call, end } = calls();
  const slow = semaphore(call(0));
  await expect(semaphore(async () => "next")).resolves.toBe("next");
  end(0);
  await expect(slow).resolves.toBe(0);
});
