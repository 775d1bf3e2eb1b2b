import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { historyPlace, STEP_MILLIS, type StoredStep } from "./historyDocument.ts";

const SPAN = { minute: STEP_MILLIS.hour, hour: STEP_MILLIS.day };
const steps = fc.constantFrom<StoredStep>("minute", "hour");
const instants = fc.double({ min: 0, max: 253_402_300_799_999, noNaN: true });

describe("the place of a state in the history", () => {
  test.each([
    ["minute", "2026-11-21T14:05:59.999Z", "minutes-2026-11-21T14", "05", "2026-11-21T15:00:00.000Z"],
    ["hour", "2026-11-21T14:05:59.999Z", "hours-2026-11-21", "14", "2026-11-22T00:00:00.000Z"],
    ["minute", "2026-12-31T23:59:59.999Z", "minutes-2026-12-31T23", "59", "2027-01-01T00:00:00.000Z"],
    ["hour", "2027-01-01T00:00:00.000Z", "hours-2027-01-01", "00", "2027-01-02T00:00:00.000Z"],
  ] as const)("by the %s, at %s: document %s, key %s, until %s", (step, at, id, key, end) => {
    expect(historyPlace(step, Date.parse(at))).toEqual({ id, key, end: Date.parse(end) });
  });

  test("differs for each minute or hour, and ids sort by time", () => {
    fc.assert(
      fc.property(steps, instants, instants, (step, a, b) => {
        const [one, other] = [historyPlace(step, Math.min(a, b)), historyPlace(step, Math.max(a, b))];
        const name = ({ id, key }: typeof one) => `${id}:${key}`;
        const isSame = Math.floor(a / STEP_MILLIS[step]) === Math.floor(b / STEP_MILLIS[step]);
        return isSame ? name(one) === name(other) : one.id <= other.id && name(one) < name(other);
      }),
    );
  });

  test("is in a document whose time contains the instant", () => {
    fc.assert(
      fc.property(steps, instants, (step, at) => {
        const { end } = historyPlace(step, at);
        return at < end && end - at <= SPAN[step];
      }),
    );
  });
});
