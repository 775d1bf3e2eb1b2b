import { expect, test } from "vitest";
import { describeLateness, LATE_MS, latenessOf, NEVER_PUBLISHED, type Timing } from "./health.ts";

const NOW = 1_000_000;
const timing = (fields: Partial<Timing> = {}): Timing => ({
  ...NEVER_PUBLISHED,
  publishedAt: NOW - 24_000,
  ...fields,
});

test("a total is late once a write has waited for longer than any publish takes", () => {
  const at = (age: number) => latenessOf(timing(), [NOW - 30_000, NOW - age], NOW);
  expect(at(LATE_MS)).toBeUndefined();
  expect(at(LATE_MS + 1)).toMatchObject({ kind: "unpublished", since: NOW - LATE_MS - 1 });
});

test("an old total without later writes is not late", () => {
  expect(latenessOf(timing({ publishedAt: 0 }), [], NOW)).toBeUndefined();
  expect(latenessOf(timing(), [NOW - 24_000], NOW)).toBeUndefined();
});

test("a write is not late before its scheduled measurement is, however long the interval", () => {
  const late = (due: number) => latenessOf(timing({ nextPollAt: NOW - due }), [NOW - 20_000], NOW);
  expect(late(-46_000)).toBeUndefined();
  expect(late(LATE_MS)).toBeUndefined();
  expect(late(LATE_MS + 1)?.kind).toBe("unpublished");
});

test("writes without any publish are late; the shards of a counter of documents say nothing", () => {
  const writes = [NOW - 20_000];
  expect(latenessOf(NEVER_PUBLISHED, writes, NOW)?.since).toBe(NOW - 20_000);
  expect(latenessOf(timing({ isCollection: true }), writes, NOW)).toBeUndefined();
});

test("a measurement that did not run is late, whatever was written; without recent writes it may take a minute", () => {
  const due = (ago: number, isQuiet = false) => latenessOf(timing({ nextPollAt: NOW - ago, isQuiet }), [], NOW);
  expect(due(-3_000)).toBeUndefined();
  expect(due(LATE_MS)).toBeUndefined();
  expect(due(16_000)).toMatchObject({ kind: "overdue", since: NOW - 16_000 });
  expect(due(59_000, true)).toBeUndefined();
  expect(due(61_000, true)?.kind).toBe("overdue");
});

test("it is said with its age when it was found", () => {
  const found = { publishedAt: NOW - 190_000, at: NOW };
  expect(describeLateness({ kind: "unpublished", since: NOW - 24_000, ...found })).toBe(
    "Not published for 24 s although writes arrive",
  );
  expect(describeLateness({ kind: "overdue", since: NOW - 180_000, ...found })).toBe(
    "The total is 3 min old, and a measurement is overdue by 3 min",
  );
});
