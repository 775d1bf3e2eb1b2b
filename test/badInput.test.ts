/** Bad input is refused before any I/O: by every function of the client, with an error that says what to do. */
import { CounterError, type CounterErrorCode, counter, incrementCounter } from "firestore-tally";
import { afterAll, expect, test } from "vitest";
import { startMeter } from "../bench/meter.ts";
import { client } from "./support/app.ts";

const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
const { db, close } = client(meter.address);
afterAll(async () => {
  await close();
  meter.close();
});

function expectRefused(error: unknown, code: CounterErrorCode): void {
  expect(error).toBeInstanceOf(CounterError);
  expect(error).toMatchObject({ code, name: "CounterError" });
  expect((error as Error).message).toMatch(new RegExp(`^${code}: .+(pass|use) `, "s"));
  expect(Object.fromEntries(meter.calls)).toEqual({});
}

const ids = ["", "a/b", "/", ".", "..", "__x__", "____", "é".repeat(751), "\ud800", null, undefined, 1, {}];
test.each(ids)("counter(db, %j) is refused", (id) => {
  try {
    counter(db, id as string);
    expect.unreachable("it was accepted");
  } catch (error) {
    expectRefused(error, "counter/invalid-id");
  }
});

test.each(["", "a/b", "__x__", 5])("the collection %j is refused", (collection) => {
  try {
    counter(db, "views:home", { collection: collection as string });
    expect.unreachable("it was accepted");
  } catch (error) {
    expectRefused(error, "counter/invalid-collection");
  }
});

test.each([0, -0, Number.NaN, Number.POSITIVE_INFINITY, -Number.POSITIVE_INFINITY, "1", null, 1n, {}, [1]])(
  "an increment by %s is refused",
  async (by) => {
    const error = await incrementCounter(counter(db, "views:home"), by as number).catch((reason: unknown) => reason);
    expectRefused(error, "counter/invalid-amount");
  },
);

test.each(["", 5, null, {}])("the shard key %j is refused", async (shardKey) => {
  const options = { shardKey: shardKey as string };
  const error = await incrementCounter(counter(db, "views:home"), 1, options).catch((reason: unknown) => reason);
  expectRefused(error, "counter/invalid-option");
});

test("good input does reach Firestore through this meter", async () => {
  await incrementCounter(counter(db, "views:good-input"));
  expect(meter.usage.writes).toBe(1);
});
