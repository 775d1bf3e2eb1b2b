import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { ServerClock } from "./serverClock.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
afterEach(() => vi.restoreAllMocks());

/** A server and a device, whose clocks are set here. */
function world(server: number, device: number) {
  const state = { server, device, monotonic: 5_000 };
  vi.spyOn(Date, "now").mockImplementation(() => state.device);
  vi.spyOn(performance, "now").mockImplementation(() => state.monotonic);
  const pass = (millis: number, { asleep = false } = {}) => {
    state.server += millis;
    state.device += millis;
    if (!asleep) state.monotonic += millis;
  };
  return { state, pass };
}

/** Asks until it is known which instants are past. @returns the number of questions */
function learn(clock: ServerClock, instants: readonly number[], { state, pass }: ReturnType<typeof world>): number {
  for (let questions = 0; ; questions++) {
    const question = clock._questionAbout(instants);
    if (question === undefined) return questions;
    const shown = state.monotonic;
    pass(40);
    const isPast = state.server >= question;
    pass(40);
    if (isPast) clock._isAtLeast(question);
    else clock._wasBefore(question, shown);
  }
}

test("whatever the device's clock says, it is known within a minute which instants are past, after a few questions", () => {
  const hours = fc.double({ min: -60, max: 60, noNaN: true });
  const skew = fc.oneof(fc.constant(0), hours, fc.constantFrom(-8_760, 8_760));
  const wait = fc.record({ hours: fc.double({ min: 0, max: 30, noNaN: true }), asleep: fc.boolean() });
  fc.assert(
    fc.property(
      hours,
      fc.array(hours, { minLength: 1, maxLength: 6 }),
      skew,
      fc.array(wait, { maxLength: 4 }),
      (seen, ends, ahead, waits) => {
        const start = 1_800_000_000_000;
        const all = world(start, start + ahead * HOUR);
        const clock = new ServerClock();
        clock._isAtLeast(Math.min(start + seen * HOUR, start));
        const instants = ends.map((end) => start + end * HOUR);
        for (const { hours, asleep } of [{ hours: 0, asleep: false }, ...waits]) {
          all.pass(hours * HOUR, { asleep });
          expect(learn(clock, instants, all)).toBeLessThan(25);
          for (const instant of instants) {
            if (Math.abs(instant - all.state.server) > 61_000)
              expect(clock._now() >= instant).toBe(all.state.server >= instant);
          }
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

test("a right clock needs one question a session, and another one after the end of the day", () => {
  const all = world(10 * DAY + 12 * HOUR, 10 * DAY + 12 * HOUR);
  const clock = new ServerClock();
  const ends = [11 * DAY, 14 * DAY, 30 * DAY];
  clock._isAtLeast(all.state.server - 3 * HOUR);
  expect(learn(clock, ends, all)).toBe(1);
  all.pass(11 * HOUR);
  expect(learn(clock, ends, all)).toBe(0);
  all.pass(2 * HOUR);
  expect(learn(clock, ends, all)).toBeLessThanOrEqual(2);
  expect(clock._now()).toBeGreaterThan(11 * DAY);
});

test("an instant that a document has needs no question", () => {
  const all = world(10 * DAY, 9 * DAY);
  const clock = new ServerClock();
  clock._isAtLeast(10 * DAY);
  expect(clock._questionAbout([10 * DAY - 1])).toBe(undefined);
  expect(clock._now()).toBe(10 * DAY);
  all.pass(HOUR);
  expect(clock._now()).toBe(10 * DAY + HOUR);
});
