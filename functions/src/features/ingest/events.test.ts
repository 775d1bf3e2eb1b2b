import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseCounterList } from "../../shared/counterList.ts";
import { parseBatch, unitsOf } from "./events.ts";

const LIMITS = { counters: undefined, visitors: true, items: true, maxEvents: 10, maxAmount: 100, maxSum: 1_000 };
const parse = (event: object) => parseBatch(JSON.stringify({ events: [{ counter: "searches", ...event }] }), LIMITS);

describe("a batch is refused", () => {
  const limits = { ...LIMITS, counters: parseCounterList("views:*, signups", "INGEST_COUNTERS"), maxEvents: 500 };
  const event = { counter: "views:home" };
  const [one, long] = [[event], "x".repeat(300)];
  test.each<[what: string, status: number, batch: string | object]>([
    ["without JSON", 400, "views:home"],
    ["that is a list", 400, []],
    ["that is null", 400, "null"],
    ["without events", 400, { events: [] }],
    ["with 501 events", 400, { events: Array(501).fill(event) }],
    ["with an unknown field", 400, { events: one, counter: "views:home" }],
    ["with an unknown field of an event", 400, { events: [event, { ...event, amount: 7 }] }],
    ["with an event that is no object", 400, { events: [event, null] }],
    ["with the path of a document", 400, { events: [event, { counter: "views:a/shards/0" }] }],
    ["with a reserved id", 400, { events: [{ counter: "__views:a__" }] }],
    ["with a counter that is not listed", 403, { events: [event, { counter: "votes:final" }] }],
    ["with a group alone", 403, { events: [{ counter: "views" }] }],
    ["with a negative amount", 400, { events: [event, { ...event, by: -1 }] }],
    ["with an amount of 0", 400, { events: [{ ...event, by: 0 }] }],
    ["with a fraction", 400, { events: [{ ...event, by: 0.5 }] }],
    ["with a large amount", 400, { events: [{ ...event, by: 101 }] }],
    ["with an amount as a text", 400, { events: [{ ...event, by: "1" }] }],
    ["with an infinite amount", 400, '{"events":[{"counter":"views:home","by":1e999}]}'],
    ["with a long visitor", 400, { events: [{ ...event, visitor: long }] }],
    ["with a long id", 400, { id: long, events: one }],
    ["with an id that is no text", 400, { id: { $gt: "" }, events: one }],
    ["with half a surrogate pair", 400, '{"events":[{"counter":"views:home","visitor":"\\ud800"}]}'],
    ["with the same id twice", 400, { events: [1, 2].map(() => ({ ...event, id: "same" })) }],
    ["with a prototype", 400, '{"events":[{"counter":"views:home","__proto__":{"by":100}}]}'],
  ])("%s", (_what, status, batch) => {
    const json = typeof batch === "string" ? batch : JSON.stringify(batch);
    expect(() => parseBatch(json, limits)).toThrow(expect.objectContaining({ status }));
  });
});

test("with skipInvalid, events that are refused are left out and told, and the others count", () => {
  const counters = parseCounterList("views:*", "INGEST_COUNTERS");
  const [home, other] = [{ counter: "views:home" }, { counter: "votes:final" }];
  const events = [home, other, { ...home, by: 101 }, null, { ...home, id: "a" }, { ...home, id: "a" }];
  const batch = (skipInvalid: unknown) => JSON.stringify({ id: "a", skipInvalid, events });
  const parsed = parseBatch(batch(true), { ...LIMITS, counters });
  expect(unitsOf(parsed).map(({ id, of, events }) => [id, of, events.map(({ index }) => index)])).toEqual([
    ["a", "batch", [0]],
    ["a", "event", [4]],
  ]);
  expect(parsed.skipped?.map(({ error, ...rest }) => ({ ...rest, error: error.slice(0, 9) }))).toEqual([
    { index: 1, status: 403, error: "events[1]" },
    { index: 2, status: 400, error: "events[2]", maxAmount: 100 },
    { index: 3, status: 400, error: "events[3]" },
    { index: 5, status: 400, error: "events[5]" },
  ]);
  expect(() => parseBatch(batch(false), { ...LIMITS, counters })).toThrow("votes:final");
  expect(() => parseBatch(batch("yes"), { ...LIMITS, counters })).toThrow("skipInvalid is not true or false");
});

test("what is beyond the sum of a batch refuses it; with skipInvalid it may be sent again", () => {
  const events = [100, 60, 40, 1].map((by) => ({ counter: "views:home", by }));
  const batch = (skipInvalid: boolean) => () =>
    parseBatch(JSON.stringify({ skipInvalid, events }), { ...LIMITS, maxSum: 150 });
  expect(batch(false)).toThrow(expect.objectContaining({ status: 413 }));
  const { events: counted, skipped } = batch(true)();
  expect(counted.map(({ by }) => by)).toEqual([100, 40, 1]);
  expect(skipped).toEqual([{ index: 1, status: 429, error: expect.stringContaining("adds more than 150") }]);
});

describe("the item of an event", () => {
  test.each(["a", " ", "x".repeat(128), "日".repeat(42), "🎉".repeat(32), "\u0000", "__proto__"])(
    "may be %j",
    (item) => {
      expect(parse({ item, by: 3 }).events).toEqual([{ index: 0, counter: "searches", by: 3, item }]);
    },
  );

  test.each<[what: string, event: object, reason: RegExp]>([
    ["empty", { item: "" }, /item is not a text/],
    ["of 129 bytes", { item: "x".repeat(129) }, /item has more than 128 bytes of UTF-8/],
    ["of 43 characters in 129 bytes", { item: "日".repeat(43) }, /item has more than 128 bytes of UTF-8/],
    ["half a surrogate pair", { item: "\ud83c" }, /item is not a text/],
    ["a number", { item: 7 }, /item is not a text/],
    ["null", { item: null }, /item is not a text/],
    ["of an amount of 0", { item: "a", visitor: "one", by: 0 }, /by is not a whole number from 1/],
  ])("is not %s", (_what, event, reason) => {
    expect(() => parse(event)).toThrow(reason);
  });
});

test.each([
  ["0000-12-31T23:59:59Z"],
  ["0001-01-01T00:59:59+01:00"],
  ["9999-12-31T23:00:00-01:00"],
  ["2027-13-01T00:00:00Z"],
  ["2027-02-29T00:00:00Z"],
  ["2027-04-31T23:00:00+02:00"],
])("at is not %s: BigQuery has no such time", (at) => {
  expect(() => parse({ at })).toThrow("events[0].at is not a time");
});

test.each([
  ["0001-01-01T01:00:00+01:00", "0001-01-01T00:00:00.000Z"],
  ["2028-02-29T23:00:00-02:00", "2028-03-01T01:00:00.000Z"],
  ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999Z"],
])("at may be %s", (at, stored) => {
  expect(parse({ at }).events[0]?.at).toBe(stored);
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
