/** Reconciling counters on schedule: by the deployed sweep, with its log; and by its code in this process. */
import { FieldValue, Timestamp } from "firebase-admin/firestore";
import { logger } from "firebase-functions/logger";
import { counter, getExactTotal, setCounterSource } from "firestore-tally/admin";
import { expect, test, vi } from "vitest";
import { reconcileDue } from "../../functions/src/features/reconcile/reconcileDue.ts";
import { admin } from "../../testkit/clients.ts";
import { logged, triggerSweep } from "../../testkit/deployedFunctions.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { correctionsOf, newCounter } from "./sourcedCounter.ts";

const EVERY = 300_000;
const minutesAgo = (minutes: number) => Timestamp.fromMillis(Date.now() - minutes * 60_000);
const drifted = "a counter had drifted from its source, and was corrected";

/** Three documents that were never counted. */
async function fill(source: string): Promise<void> {
  for (const document of ["a", "b", "c"]) await admin.doc(`${source}/${document}`).set({});
}

test("the deployed sweep reconciles a counter that is due, and reports its drift in the log", async () => {
  const { id, ref, source } = newCounter("due");
  await fill(source);
  await setCounterSource(ref, { collection: source }, { every: EVERY });
  await admin.doc(ref.path).update({ nextReconcileAt: minutesAgo(12) });
  await triggerSweep();
  expect(await correctionsOf(id)).toMatchObject([{ source: { collection: source }, expected: 3, found: 0, by: 3 }]);
  await until(async () => (await readPublished(id))?.total === 3, "the total");
  const alarms = () => logged(drifted).filter(({ counter }) => counter === id);
  expect(alarms()).toMatchObject([{ severity: "ERROR", expected: 3, found: 0, drift: 3, asOf: expect.any(String) }]);
});

test("all counters that are due are reconciled once, and no others; one that cannot be does not block them", async () => {
  const { backend } = inProcessBackend();
  const { collection } = backend.config;
  const source = `${collection}-source`;
  await fill(source);
  const due = minutesAgo(12);
  const scheduled = async (id: string, fields: object = {}, alarmBeyond = 0) => {
    const ref = counter(admin, id, { collection });
    await setCounterSource(ref, { collection: source }, { every: EVERY, alarmBeyond });
    await admin.doc(ref.path).update({ nextReconcileAt: due, ...fields });
    return ref;
  };
  const tolerant = await scheduled("tolerant", {}, 3);
  const later = await scheduled("later", { nextReconcileAt: minutesAgo(-1) });
  await scheduled("broken", { "source.collection": "not/a-collection" });
  await scheduled("gone", { source: FieldValue.delete() });
  // With these, more than are reconciled at the same time.
  const others = await Promise.all(["d", "e", "f"].map((id) => scheduled(id)));
  const log = vi.spyOn(logger, "write").mockReturnValue();
  // No time limit of a counter ends before the test.
  const patient = { ...backend, sleep: () => new Promise<void>(() => {}) };
  const totals = () => Promise.all([tolerant, later, ...others].map((ref) => getExactTotal(ref)));
  await reconcileDue(patient);
  expect(await totals()).toEqual([3, 0, 3, 3, 3]);
  await reconcileDue(patient);
  expect(await totals()).toEqual([3, 0, 3, 3, 3]);
  const entries = log.mock.calls.map(([{ message, counter, error }]) => `${counter}: ${error ?? message}`).sort();
  log.mockRestore();
  expect(entries).toEqual([
    expect.stringContaining('collection is "not/a-collection"; pass the path'),
    ...["d", "e", "f"].map((id) => `${id}: ${drifted}`),
    expect.stringContaining("gone: "),
  ]);
  const nextOf = async (id: string) => (await backend.counters.doc(id).get()).get("nextReconcileAt");
  expect(await nextOf("gone")).toBeUndefined();
  for (const id of ["tolerant", "broken"]) {
    // The next time is a multiple of the interval after the previous one.
    const next = (await nextOf(id)).toMillis();
    expect((next - due.toMillis()) % EVERY).toBe(0);
    expect(next).toBeGreaterThan(Date.now());
    expect(next).toBeLessThan(Date.now() + EVERY);
  }
});
