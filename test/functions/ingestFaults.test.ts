/** A smaller form of `npm run faults:ingest`. */
import { expect, test } from "vitest";
import { fireAtMessages, fireAtRequests } from "../faults/ingest.ts";

test("10,000 events with ids are each counted once, though instances are killed and answers are lost", {
  tags: "deep",
  timeout: 400_000,
}, async () => {
  const { acknowledged, counted, kills, cuts } = await fireAtRequests(10_000, true);
  expect([acknowledged, counted]).toEqual([10_000, 10_000]);
  expect(Math.min(kills, cuts)).toBeGreaterThan(0);
});

test("1,000 events in messages that are each delivered three times and more are counted once", {
  tags: "deep",
  timeout: 400_000,
}, async () => {
  const { acknowledged, counted } = await fireAtMessages(1_000);
  expect([acknowledged, counted]).toEqual([1_000, 1_000]);
});
