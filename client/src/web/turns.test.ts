import { expect, test } from "vitest";
import type { Sent, Turn } from "./call.ts";
import type { Counter } from "./counter.ts";
import { inTurn } from "./turns.ts";

const counter = () => ({ _turns: new Map<string, Sent>() }) as unknown as Counter;

/** Makes a call that lasts until `end` is called. */
function begin(on: Counter, counts: boolean | undefined) {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<Turn>();
  const outcome = inTurn(on, "user", counts, (turn) => {
    begun.resolve(turn);
    return promise;
  });
  return { turn: begun.promise, end, outcome };
}

test("a call begins once the one before is sent or has an outcome", async () => {
  const on = counter();
  const order: string[] = [];
  const [like, unlike, again] = [true, false, true].map((counts) => begin(on, counts));
  void unlike?.turn.then(() => order.push("unlike begins"));
  void again?.turn.then(() => order.push("again begins"));
  const first = await like?.turn;
  expect([first?._isFirst, order]).toEqual([true, []]);
  first?._sent();
  const second = await unlike?.turn;
  expect([second?._isFirst, order]).toEqual([false, ["unlike begins"]]);
  unlike?.end();
  await again?.turn;
  expect(order).toEqual(["unlike begins", "again begins"]);
});

test("an undo knows whether the last call with its `once` is an undo, its own or a later one", async () => {
  const on = counter();
  const undo = await begin(on, false).turn;
  expect(undo._isUndone()).toBe(true);
  begin(on, true);
  expect(undo._isUndone()).toBe(false);
  // This one may find nothing to undo, because the first is pending. So the first must not leave the entry to it.
  begin(on, false);
  expect(undo._isUndone()).toBe(true);
});
