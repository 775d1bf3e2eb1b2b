import { readFileSync } from "node:fs";
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

test.each([
  ["0000-12-31T23:59:59Z"],
  ["0001-01-01T00:59:59+01:00"],
  ["9999-12-31T23:00:00-01:00"],
  ["2027-13-01T00:00:00Z"],
])("at is not %s: BigQuery has no such time", (at) => {
  expect(() => parse({ at })).toThrow("events[0].at is not a time");
});

test.each([
  ["0001-01-01T01:00:00+01:00", "0001-01-01T00:00:00.000Z"],
  ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999Z"],
])("at may be %s", (at, stored) => {
  expect(parse({ at }).units[0]?.events[0]?.at).toBe(stored);
});

test("a batch has as many ids and counters as docs/events.md says, for requests and for messages", () => {
  const batchOf = (events: number) => {
    const batch = { events: Array.from({ length: events }, (_, n) => ({ counter: `orders:${n}`, id: `${n}` })) };
    return () => parseBatch(JSON.stringify(batch), { ...LIMITS, maxEvents: events });
  };
  expect(batchOf(500)).not.toThrow();
  expect(batchOf(501)).toThrow("the batch has 1002 ids and counters; send 1000 at most");
  const text = readFileSync("docs/events.md", "utf8").replace(/\s+/g, " ");
  expect(text).toContain("A batch has at most 1,000 counters and ids of events together");
  expect(text).toContain("up to 10,000 events, with [1,000 counters and ids](#send-events) at most");
});
