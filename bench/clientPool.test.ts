import { expect, test } from "vitest";
import { ClientPool } from "./clientPool.ts";

/** A pool of numbers. Each task lasts until `finish` is called. */
function numbered(size: number, maxSize: number) {
  let created = 0;
  const pool = new ClientPool(() => created++, size, maxSize);
  const used: number[] = [];
  const finish: (() => void)[] = [];
  const use = () =>
    pool.use(async (client) => {
      used.push(client);
      await new Promise<void>((resolve) => finish.push(resolve));
    });
  return { pool, use, used, finish };
}

test("the client that has rested longest is next", async () => {
  const { use, used, finish } = numbered(2, 2);
  for (let n = 0; n < 4; n++) {
    const done = use();
    finish.shift()?.();
    await done;
  }
  expect(used).toEqual([0, 1, 0, 1]);
});

test("new clients join up to the maximum, then busy ones take turns", () => {
  const { pool, use, used } = numbered(1, 3);
  for (let n = 0; n < 5; n++) void use();
  expect(used).toEqual([0, 1, 2, 0, 1]);
  expect(pool.all).toEqual([0, 1, 2]);
});

test("a client rests after a failed task", async () => {
  const { pool } = numbered(1, 1);
  await expect(pool.use(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
  await expect(pool.use(async (client) => expect(client).toBe(0))).resolves.toBeUndefined();
});
