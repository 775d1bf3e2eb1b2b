/** Every function of the web client refuses invalid arguments before any I/O, with an error that says what to do. */
import { doc, writeBatch } from "firebase/firestore";
import {
  CounterError,
  type CounterErrorCode,
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
async function expectRefused(call: () => unknown, code: CounterErrorCode): Promise<void> {
  const error = await (async () => call())().then(
    () => expect.unreachable("it was accepted"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CounterError);
  expect(error).toMatchObject({ code, name: "CounterError" });
  expect((error as Error).message).toMatch(new RegExp(`^${code}: .+; pass `, "s"));
  expect(Object.fromEntries(meter.calls)).toEqual({});
}

const ids = [
  "",
  "a/b",
  "/",
  ".",
  "..",
  "__x__",
  "____",
  "é".repeat(751),
  "\ud800",
  "a\u0000",
  "\u001b[2J",
  null,
  undefined,
  1,
  {},
];
test.each(ids)("counter(db, %j) is refused", async (id) => {
  await expectRefused(() => counter(db, id as string), "counter/invalid-id");
});

test.each(["", "a/b", "__x__", 5])("the collection %j is refused", async (collection) => {
  const options = { collection: collection as string };
  await expectRefused(() => counter(db, "views:home", options), "counter/invalid-collection");
});

test.each([0, -0, Number.NaN, Number.POSITIVE_INFINITY, -Number.POSITIVE_INFINITY, "1", null, undefined, 1n, {}, [1]])(
  "an increment by %s is refused, alone, in a batch and prepared",
  async (by) => {
    const ref = counter(db, "views:home");
    await expectRefused(() => incrementCounter(ref, by as number), "counter/invalid-amount");
    await expectRefused(() => incrementCounterIn(writeBatch(db), ref, by as number), "counter/invalid-amount");
    await expectRefused(() => prepareIncrement(ref, by as number), "counter/invalid-amount");
  },
);

test.each(["", "a/b", ".", 5, null, {}, undefined])(
  "`once` %j is refused by every function that takes it",
  async (bad) => {
    const ref = counter(db, "likes:post42");
    const once = bad as string;
    await expectRefused(() => incrementCounter(ref, 1, { once }), "counter/invalid-once");
    await expectRefused(() => incrementCounterIn(writeBatch(db), ref, 1, { once }), "counter/invalid-once");
    await expectRefused(() => prepareIncrement(ref, 1, { once }), "counter/invalid-once");
    await expectRefused(() => undoIncrement(ref, once), "counter/invalid-once");
    await expectRefused(() => getIncremented(ref, once), "counter/invalid-once");
    await expectRefused(() => onIncremented(ref, once, () => {}), "counter/invalid-once");
  },
);

test.each([
  { name: "a/b" },
  { uid: "" },
  { uid: "a/b" },
  { limit: 0 },
  { per: Number.NaN },
  { burst: 101 },
  { burst: 5, per: 20_000_000 },
])("the rate limit %j is refused", async (changes) => {
  const limit = { name: "claps", uid: "alice", limit: 1, per: 1_000, burst: 5, ...changes };
  const note = doc(db, "notes/one");
  await expectRefused(() => withRateLimit(note, limit, () => {}), "counter/invalid-option");
  await expectRefused(() => incrementCounterWithRateLimit(counter(db, "claps:a"), limit), "counter/invalid-option");
});

test("an increment within a limit is refused with a wrong amount or `once`", async () => {
  const limit = { name: "claps", uid: "alice", limit: 1, per: 1_000, burst: 5 };
  const ref = counter(db, "claps:a");
  await expectRefused(() => incrementCounterWithRateLimit(ref, limit, 0), "counter/invalid-amount");
  await expectRefused(() => incrementCounterWithRateLimit(ref, limit, 1, { once: "" }), "counter/invalid-once");
});

test.each([{ from: new Date(Number.NaN) }, { to: "today" }, { step: "week" }, { from: new Date(2) }, { to: null }])(
  "a history of %j is refused",
  async (options) => {
    const whole = { from: new Date(0), to: new Date(1), step: "hour", ...options } as CounterHistoryOptions;
    await expectRefused(() => getCounterHistory(counter(db, "views:home"), whole), "counter/invalid-option");
  },
);

test("valid arguments reach Firestore, so the meter of these tests works", async () => {
  await incrementCounter(counter(db, "views:good-input"));
  expect(meter.usage.writes).toBe(1);
});
