import { expect, test } from "vitest";
import { createGate } from "./gate.ts";

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
  const gate = createGate(2, 60_000);
  const { begun, call, end } = calls();
  const results = [0, 1, 2, 3].map((n) => gate(call(n)));
  expect(begun).toEqual([0, 1]);
  end(1);
  await expect(results[1]).resolves.toBe(1);
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  end(0);
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
});

test("a call that fails gives its place away", async () => {
  const gate = createGate(1, 60_000);
  await expect(gate(() => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  await expect(gate(async () => "next")).resolves.toBe("next");
});

test("a call that lasts too long gives its place away, and still ends", async () => {
  const gate = createGate(1, 10);
  const { call, end } = calls();
  const slow = gate(call(0));
  await expect(gate(async () => "next")).resolves.toBe("next");
  end(0);
  await expect(slow).resolves.toBe(0);
});
