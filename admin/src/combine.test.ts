import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../core/testing/runs.ts";
import { combine } from "./combine.ts";

/** Commits that end when the test says so. */
function commits() {
  const sums: number[] = [];
  const pending: { sum: number; end: (error?: unknown) => void }[] = [];
  const add = combine((sum) => {
    sums.push(sum);
    return new Promise((resolve, reject) => {
      pending.push({ sum, end: (error) => (error === undefined ? resolve() : reject(error)) });
    });
  });
  async function end(error?: unknown) {
    await turn();
    pending.shift()?.end(error);
    await turn();
  }
  return { add, sums, pending, end };
}

const outcomeOf = (adding: Promise<void>) => adding.then(() => "counts").catch((error) => error);

test("increments of one turn share a commit, and those made while it is pending share the next", async () => {
  const { add, sums, end } = commits();
  const first = [1, 2, 3].map((by) => add(by));
  await turn();
  const second = [4, -5].map((by) => add(by));
  await turn();
  expect(sums).toEqual([6]);
  await end();
  await Promise.all(first);
  expect(sums).toEqual([6, -1]);
  await end();
  await Promise.all(second);
});

test("in any order of calls, one commit is pending at a time, and each increment ends with the commit that contains it", async () => {
  const step = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom("end", "fail", "turn"));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { add, sums, pending, end } = commits();
      const asked: { by: number; outcome?: string }[] = [];
      const failed: number[] = [];
      const finish = async (fails: boolean) => {
        await turn();
        if (fails && pending[0]) failed.push(pending[0].sum);
        await end(fails ? "refused" : undefined);
      };
      for (const step of steps) {
        if (typeof step === "number") {
          const one: (typeof asked)[number] = { by: step };
          asked.push(one);
          void outcomeOf(add(step)).then((outcome) => {
            one.outcome = outcome;
          });
        } else if (step === "turn") await turn();
        else await finish(step === "fail");
        expect(pending.length).toBeLessThanOrEqual(1);
      }
      do await finish(false);
      while (pending.length > 0);
      const sum = (all: readonly number[]) => all.reduce((one, another) => one + another, 0);
      const withOutcome = (outcome: string) => asked.filter((one) => one.outcome === outcome).map(({ by }) => by);
      expect(sum(withOutcome("refused"))).toBe(sum(failed));
      expect(sum(withOutcome("counts"))).toBe(sum(sums) - sum(failed));
      expect(asked.every(({ outcome }) => outcome)).toBe(true);
    }),
    runs(500),
  );
});

test("increments that cancel out need no commit, and wait for none", async () => {
  const { add, sums } = commits();
  await Promise.all([add(5), add(-2), add(-3)]);
  expect(sums).toEqual([]);
});

test("a sum of whole numbers stays exact, and no sum becomes infinite", async () => {
  const most = Number.MAX_SAFE_INTEGER;
  for (const [amounts, expected] of [
    [
      [most, 1, 1],
      [most, 2],
    ],
    [
      [most - 1, 1, -5, 5, 1],
      [most, 1],
    ],
    [
      [-most, -1],
      [-most, -1],
    ],
    [
      [Number.MAX_VALUE, Number.MAX_VALUE, 1],
      [Number.MAX_VALUE, Number.MAX_VALUE, 1],
    ],
    [
      [0.5, most],
      [0.5, most],
    ],
    [[1e300, -1e300, 0.5, 0.25], [0.75]],
  ] as const) {
    const { add, sums, end } = commits();
    const all = Promise.all(amounts.map((by) => add(by)));
    for (let n = 0; n < amounts.length; n++) await end();
    await all;
    expect(sums).toEqual(expected);
  }
});
