/** A watch that was refused goes on when it may: after sign-in, and after other rules are deployed. */
import { memoryLocalCache, memoryLruGarbageCollector } from "firebase/firestore";
import { Timestamp } from "firebase-admin/firestore";
import { type CounterState, counter, counterStore, onCounter, onIncremented } from "firestore-tally";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { adminAt, type Client, client, signIn } from "../../testkit/clients.ts";
import { loadRules, OPEN_RULES, withPolicy } from "../../testkit/rules.ts";
import { until } from "../../testkit/until.ts";

const PROJECT = `demo-tally-recovery-${process.pid}`;
const SIGNED_IN = withPolicy(OPEN_RULES, "function mayReadCounter() { return request.auth != null; }");
const CLOSED = withPolicy(OPEN_RULES, "function mayReadCounter() { return false; }");
const { firestore, close } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string, PROJECT);
const open: Client[] = [];

beforeAll(() =>
  firestore.doc("counters/open:a").set({ group: "open", total: 40, shardCount: 1, asOf: Timestamp.now() }),
);
afterAll(async () => {
  await Promise.all(open.map((one) => one.close()));
  await close();
});

/** A user whose cache keeps documents that no listener needs. */
function visitor(): Client {
  const localCache = memoryLocalCache({ garbageCollector: memoryLruGarbageCollector() });
  const one = client(undefined, PROJECT, { localCache });
  open.push(one);
  return one;
}

test("after sign-in, a refused watch, store and state of a like go on, and the error was told once", async () => {
  await loadRules(PROJECT, SIGNED_IN);
  const one = visitor();
  const ref = counter(one.db, "open:a");
  const [next, failed] = [vi.fn(), vi.fn()];
  const store = counterStore(ref);
  const counts = vi.fn();
  const ends = [
    onCounter(ref, { next, error: failed }),
    store.subscribe(() => {}),
    onIncremented(ref, "ada-recovery", { next: counts, error: failed }),
  ];
  await until(() => failed.mock.calls.length === 2 && !!store.getSnapshot().error, "the refusals");
  // Long enough for a second attempt.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(failed).toHaveBeenCalledTimes(2);
  expect([next.mock.calls, counts.mock.calls]).toEqual([[], []]);

  await signIn(one, "ada-recovery");
  const signedInAt = performance.now();
  await until(() => next.mock.calls.length > 0 && counts.mock.calls.length > 0, "the watches");
  expect(performance.now() - signedInAt).toBeLessThan(4_000);
  expect(next.mock.lastCall?.[0]).toMatchObject({ total: 40, fromCache: false });
  expect(counts.mock.calls).toEqual([[false]]);
  await until(() => store.getSnapshot().total === 40, "the store");
  expect(store.getSnapshot().error).toBeUndefined();
  for (const end of ends) end();
});

test("after other rules: a watch that had a total goes on with the same one, and a second subscriber gets no old error", async () => {
  await loadRules(PROJECT, OPEN_RULES);
  const one = visitor();
  const store = counterStore(counter(one.db, "open:a"));
  const states: CounterState[] = [];
  const ends = [store.subscribe((state) => states.push(state))];
  await until(() => store.getSnapshot().total === 40, "the total");
  await loadRules(PROJECT, CLOSED);
  // The emulator asks the rules for a listener that begins anew.
  await signIn(one, "ada-rules");
  await until(() => !!store.getSnapshot().error, "the refusal");
  const told = states.length;
  // The cache has the total, and answers each attempt before the refusal.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(states.slice(told)).toEqual([]);
  expect(store.getSnapshot()).toMatchObject({ total: 40, error: { code: "permission-denied" } });

  await loadRules(PROJECT, OPEN_RULES);
  const seen: unknown[] = [];
  ends.push(store.subscribe(({ error, total }) => seen.push(error ?? total)));
  expect(seen).toEqual([40]);
  await until(() => store.getSnapshot().fromCache === false && !store.getSnapshot().error, "the total again");
  expect(new Set(seen)).toEqual(new Set([40]));
  for (const end of ends) end();
});
