/**
 * Reconciling a counter with its source of truth on demand: once for concurrent calls. Writes meanwhile are in test/simulation,
 * reconciling on schedule in reconcileSchedule.test.ts.
 */
import { counter, reconcileCounter, resetCounter, setCounterSource } from "firestore-tally/admin";
import { afterEach, describe, expect, test, vi } from "vitest";
import { losingFirstAnswer } from "../../testkit/aroundCommits.ts";
import { admin } from "../../testkit/clients.ts";
import { metered } from "../../testkit/metered.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";
import { correctionsOf, newCounter } from "./sourcedCounter.ts";

afterEach(() => vi.unstubAllEnvs());

describe("I5: a correction changes the sum by the drift alone", () => {
  test("ten concurrent calls correct a drift once, and one of them reports it", async () => {
    const it = newCounter("once");
    await admin.doc(`${it.source}/one`).set({});
    await admin.doc(`${it.source}/two`).set({});
    const source = { collection: it.source };
    const all = await Promise.all(Array.from({ length: 10 }, () => reconcileCounter(it.ref, { source })));
    expect(all.filter(({ corrected }) => corrected)).toMatchObject([{ expected: 2, found: 0, drift: 2 }]);
    expect(await sumOfIncrements(it.id)).toBe(2);
    expect(await correctionsOf(it.id)).toMatchObject([{ source, expected: 2, found: 0, by: 2 }]);
  });

  test.each([0, 10])("a call whose answer is lost corrects a total of %d once, and reports it", async (found) => {
    const it = newCounter(
      "cut",
      losingFirstAnswer(admin, async () => {}),
    );
    // With it the counter has a base shard.
    if (found > 0) await resetCounter(counter(admin, it.id), found);
    await admin.doc(`${it.source}/one`).set({});
    const result = await reconcileCounter(it.ref, { source: { collection: it.source } });
    expect(result).toMatchObject({ expected: 1, found, drift: 1 - found, corrected: true });
    expect(await sumOfIncrements(it.id)).toBe(1);
    expect(await correctionsOf(it.id)).toHaveLength(1);
  });
});

test.each([
  ["as in the emulator", process.env.FIRESTORE_EMULATOR_HOST],
  ["as in production", undefined],
])("I6: reconciling takes no lock, and costs the documented reads and writes, %s", async (_where, host) => {
  const { firestore, usedBy, calls, close } = await metered();
  const { ref, source } = newCounter("meter", firestore);
  await admin.doc(`${source}/one`).set({});
  // No function folds these shards.
  for (const shard of ["0", "theirs", "ours"]) await admin.doc(`${ref.path}/shards/${shard}`).set({ count: 1 });
  await setCounterSource(ref, { collection: source });
  // With this variable, reads name their snapshot by its time.
  vi.stubEnv("FIRESTORE_EMULATOR_HOST", host);
  const used = await usedBy(async () => {
    expect(await reconcileCounter(ref)).toMatchObject({ expected: 1, found: 3, corrected: true });
  });
  // Reads: the stored source, the aggregation, three shards, and whether it is bounded. Writes: base, the counter document and a correction.
  expect(used).toEqual({ reads: 6, writes: 3, deletes: 0 });
  expect(calls.get("RunAggregationQuery")).toBe(1);
  expect(calls.get("transaction")).toBeUndefined();
  await close();
});
