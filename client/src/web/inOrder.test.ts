import { expect, test } from "vitest";
import type { OrderedCall } from "./call.ts";
import type { Counter } from "./counter.ts";
import { inOrder, isUndone } from "./inOrder.ts";

const counter = () => ({ _calls: new Map<string, OrderedCall>() }) as unknown as Counter;

/** Makes a call that lasts until `end` is called. */
function begin(on: Counter, counts: boolean | undefined) {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<OrderedCall>();
  const outcome = inOrder(on, "user", counts, (call) => {
    begun.resolve(call);
    return promise;
  });
  return { call: begun.promise, end, outcome };
}

test("a call begins once the one before is sent or has an outcome", async () => {
  const on = counter();
  const order: string[] = [];
  const [like, unlike, again] = [true, false, true].map((counts) => begin(on, counts));
  void unlike?.call.then(() => order.push("unlike begins"));
  void again?.call.then(() => order.push("again begins"));
  const first = await like?.call;
  expect([first?._isFirst, order]).toEqual([true, []]);
  first?._markSent();
  const second = await unlike?.call;
  expect([second?._isFirst, order]).toEqual([false, ["unlike begins"]]);
  unlike?.end();
  await again?.call;
  expect(order).toEqual(["unlike begins", "again begins"]);
});

test("an undo knows whether the last call with its `once` is an undo, its own or a later one", async () => {
  const on = counter();
  await begin(on, false).call;
  expect(isUndone(on, "user")).toBe(true);
  begin(on, true);
  expect(isUndone(on, "user")).toBe(false);
  // This one may find nothing to undo, because the first is pending. So the first must not leave the entry to it.
  begin(on, false);
  expect(isUndone(on, "user")).toBe(true);
});
