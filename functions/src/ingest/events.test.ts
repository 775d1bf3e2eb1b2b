import { describe, expect, test } from "vitest";
import { parseBatch } from "./events.ts";

const LIMITS = { counters: undefined, visitors: true, maxEvents: 10, maxAmount: 100 };
const parse = (event: object) => parseBatch(JSON.stringify({ events: [{ counter: "searches", ...event }] }), LIMITS);

describe("the key of an event", () => {
  test.each(["a", " ", "x".repeat(128), "日".repeat(42), "🎉".repeat(32), "\u0000", "__proto__"])(
    "may be %j",
    (key) => {
      expect(parse({ key, by: 3 }).units).toEqual([
        { id: undefined, events: [{ counter: "searches", by: 3, visitor: undefined, key }] },
      ]);
    },
  );

  test.each<[what: string, event: object, reason: RegExp]>([
    ["empty", { key: "" }, /key is not a text/],
    ["of 129 bytes", { key: "x".repeat(129) }, /key has more than 128 bytes of UTF-8/],
    ["of 43 characters in 129 bytes", { key: "日".repeat(43) }, /key has more than 128 bytes of UTF-8/],
    ["half a surrogate pair", { key: "\ud83c" }, /key is not a text/],
    ["a number", { key: 7 }, /key is not a text/],
    ["null", { key: null }, /key is not a text/],
    ["of an amount of 0", { key: "a", visitor: "one", by: 0 }, /by is not a whole number from 1/],
  ])("is not %s", (_what, event, reason) => {
    expect(() => parse(event)).toThrow(reason);
  });
});
