import { expect, test } from "vitest";
import { Population } from "./population.ts";

function numbered(size: number, most: number) {
  let made = 0;
  const population = new Population(() => made++, size, most);
  const asked: number[] = [];
  const finish: (() => void)[] = [];
  /** Asks for a deed that lasts until it is finished. */
  const act = () =>
    population.act(async (member) => {
      asked.push(member);
      await new Promise<void>((resolve) => finish.push(resolve));
    });
  return { population, act, asked, finish };
}

test("who has rested longest acts next", async () => {
  const { act, asked, finish } = numbered(2, 2);
  for (let n = 0; n < 4; n++) {
    const done = act();
    finish.shift()?.();
    await done;
  }
  expect(asked).toEqual([0, 1, 0, 1]);
});

test("nobody acts twice at a time as long as somebody new can come", async () => {
  const { population, act, asked } = numbered(1, 3);
  for (let n = 0; n < 3; n++) void act();
  expect(asked).toEqual([0, 1, 2]);
  expect(population.all).toEqual([0, 1, 2]);
});

test("when nobody new can come, those who wait take turns", () => {
  const { act, asked } = numbered(1, 2);
  for (let n = 0; n < 5; n++) void act();
  expect(asked).toEqual([0, 1, 0, 1, 0]);
});

test("whose deed has failed rests and acts again", async () => {
  const { population } = numbered(1, 1);
  await expect(population.act(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  let acted: number | undefined;
  await population.act(async (member) => {
    acted = member;
  });
  expect(acted).toBe(0);
});
