/**
 * Every function of the web client refuses invalid arguments before any I/O. What is invalid is in `core/src/validation.test.ts` and
 * `rateLimit.test.ts`; `client/otherSdk.test.ts` has each argument of the built package.
 */
import { doc, writeBatch } from "firebase/firestore";
import {
  type CounterHistoryOptions,
  counter,
  getCounterHistory,
  getIncremented,
  incrementCounter,
  incrementCounterIn,
  incrementCounterWithRateLimit,
  onIncremented,
  prepareIncrement,
  undoIncrement,
  withRateLimit,
} from "firestore-tally";
import { afterAll, expect, test } from "vitest";
import { client } from "../../testkit/clients.ts";
import { startMeter } from "../../testkit/meter.ts";

const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
const { db, close } = client(meter.address);
afterAll(async () => {
  await close();
  meter.close();
});

/** The call may throw or reject. */
async function expectRefused(call: () => unknown, code: string): Promise<void> {
  const message = expect.stringMatching(new RegExp(`^counter/invalid-${code}: .+; pass `, "s"));
  await expect((async () => call())()).rejects.toMatchObject({
    name: "CounterError",
    code: `counter/invalid-${code}`,
    message,
  });
  expect(Object.fromEntries(meter.calls)).toEqual({});
}

const ref = counter(db, "likes:post42");
const limit = { name: "claps", uid: "alice", limit: 1, per: 1_000, burst: 5 };
const bad = { once: "a/b" };
const calls: Record<string, [call: () => unknown, code: string]> = {
  "counter id": [() => counter(db, "a/b"), "id"],
  "counter collection": [() => counter(db, "views:home", { collection: "a/b" }), "collection"],
  "incrementCounter by": [() => incrementCounter(ref, Number.NaN), "amount"],
  "incrementCounter once": [() => incrementCounter(ref, 1, bad), "once"],
  "incrementCounterIn by": [() => incrementCounterIn(writeBatch(db), ref, 0), "amount"],
  "incrementCounterIn once": [() => incrementCounterIn(writeBatch(db), ref, 1, bad), "once"],
  "prepareIncrement by": [() => prepareIncrement(ref, 0), "amount"],
  "prepareIncrement once": [() => prepareIncrement(ref, 1, bad), "once"],
  "undoIncrement once": [() => undoIncrement(ref, bad.once), "once"],
  "getIncremented once": [() => getIncremented(ref, bad.once), "once"],
  "onIncremented once": [() => onIncremented(ref, bad.once, () => {}), "once"],
  "withRateLimit limit": [() => withRateLimit(doc(db, "notes/one"), { ...limit, burst: 101 }, () => {}), "option"],
  "incrementCounterWithRateLimit limit": [() => incrementCounterWithRateLimit(ref, { ...limit, limit: 0 }), "option"],
  "incrementCounterWithRateLimit by": [() => incrementCounterWithRateLimit(ref, limit, 0), "amount"],
  "incrementCounterWithRateLimit once": [() => incrementCounterWithRateLimit(ref, limit, 1, bad), "once"],
};
test.each(Object.entries(calls))("%s", async (_name, [call, code]) => {
  await expectRefused(call, code);
});

test.each([{ from: new Date(Number.NaN) }, { to: "today" }, { step: "week" }, { from: new Date(2) }, { to: null }])(
  "getCounterHistory of %j",
  async (options) => {
    const whole = { from: new Date(0), to: new Date(1), step: "hour", ...options } as CounterHistoryOptions;
    await expectRefused(() => getCounterHistory(ref, whole), "option");
  },
);

test("valid arguments reach Firestore, so the meter of these tests works", async () => {
  await incrementCounter(counter(db, "views:good-input"));
  expect(meter.usage.writes).toBe(1);
});
