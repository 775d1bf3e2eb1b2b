import { expect, test, vi } from "vitest";
import { type CounterObserver, observing } from "./observer.ts";

test("an observer is a function, or an object, whose methods keep their `this`", () => {
  const seen: unknown[] = [];
  const otherwise = vi.fn();
  class Label {
    name = "label";
    next(value: number) {
      seen.push([this.name, value]);
    }
    error(reason: Error) {
      seen.push([this.name, reason.message]);
    }
  }
  const [next, error] = observing(new Label(), otherwise);
  next(1);
  error(new Error("denied"));
  expect(seen).toEqual([
    ["label", 1],
    ["label", "denied"],
  ]);
  expect(otherwise).not.toHaveBeenCalled();
});

test.each([
  ["a function", () => {}],
  ["an object without one", { next() {} }],
  ["an object with `undefined`", { next() {}, error: undefined } as unknown as CounterObserver<number>],
])("the failure of a watch is reported without an error callback: %s", (_what, observer) => {
  const otherwise = vi.fn();
  observing<number, Error>(observer, otherwise)[1](new Error("denied"));
  expect(otherwise).toHaveBeenCalledExactlyOnceWith(new Error("denied"));
});
