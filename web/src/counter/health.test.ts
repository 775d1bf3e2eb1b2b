import { expect, test } from "vitest";
import { describeLateness, LATE_MS, type Lateness, latenessOf, type Timing } from "./health.ts";

const NOW = 1_000_000;
const timing = (fields: Partial<Timing> = {}): Timing => ({
  publishedAt: NOW - 24_000,
  nextPollAt: undefined,
  isCollection: false,
  ...fields,
});

test("a total is late once a write has waited for longer than any publish takes", () => {
  const at = (age: number) => latenessOf(timing(), [NOW - 30_000, NOW - age], NOW);
  expect(at(LATE_MS)).toBeUndefined();
  expect(at(LATE_MS + 1)).toMatchObject({ kind: "unpublished", since: NOW - LATE_MS - 1 });
});

test("an old total without later writes is not late: nor is a quiet one", () => {
  expect(latenessOf(timing({ publishedAt: 0 }), [], NOW)).toBeUndefined();
  expect(latenessOf(timing(), [NOW - 24_000], NOW)).toBeUndefined();
});

test("writes without any publish are late; the shards of a counter of documents say nothing", () => {
  const writes = [NOW - 20_000];
  expect(latenessOf(timing({ publishedAt: undefined }), writes, NOW)?.since).toBe(NOW - 20_000);
  expect(latenessOf(timing({ isCollection: true }), writes, NOW)).toBeUndefined();
});

test("a measurement that did not run is late, whatever was written", () => {
  const due = (ago: number) => latenessOf(timing({ nextPollAt: NOW - ago }), [], NOW);
  expect(due(-3_000)).toBeUndefined();
  expect(due(5_000)).toBeUndefined();
  expect(due(6_000)).toMatchObject({ kind: "overdue", since: NOW - 6_000 });
});

test("it is said with its age", () => {
  const text = (kind: Lateness["kind"], since: number) =>
    describeLateness({ kind, since, publishedAt: NOW - 190_000 }, NOW);
  expect(text("unpublished", NOW - 24_000)).toBe("Not published for 24 s although writes arrive");
  expect(text("overdue", NOW - 180_000)).toBe("The total is 3 min old, and a measurement is overdue by 3 min");
});
