import { expect, test } from "vitest";
import { sleep } from "./time.ts";

test("waits again if a timer fires early by the clock", async () => {
  // Of the start, and of each time a timer goes off.
  const readings = [1_000, 1_002.5, 1_002.9, 1_003];
  await sleep(3, () => readings.shift() as number);
  expect(readings).toEqual([]);
});

test("returns at once if the duration is not positive", async () => {
  let waited = true;
  const waiting = Promise.all([sleep(0), sleep(-5)]).then(() => {
    waited = false;
  });
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  expect(waited).toBe(false);
  await waiting;
});
