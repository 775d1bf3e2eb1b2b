import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CounterError } from "./errors.ts";
import { DAY_END, historyPlace, STEP_MILLIS, type StoredStep } from "./historyDocument.ts";
import { type CounterHistoryOptions, historyPoints, historyRange } from "./historyPoints.ts";
import { eachWindow } from "./windows.ts";

const date = (time: string) => new Date(`2026-11-${time}Z`);
const day = { from: date("21T00:00:00"), to: date("22T00:00:00") };

/** The `n`th published state. */
function state(n: number, at: Date, micros = 0) {
  const seconds = Math.floor(+at / 1_000);
  const asOf = { seconds, nanoseconds: (+at - seconds * 1_000) * 1e6 + micros * 1_000 };
  return { total: 10 * n, writes: 11 * n, rate: n / 10, shardCount: n, publishes: n, asOf };
}
type State = ReturnType<typeof state>;

const millisOf = ({ asOf: { seconds, nanoseconds } }: State) => seconds * 1_000 + nanoseconds / 1e6;

/** The history documents that hold the states. */
function stored(step: StoredStep, states: readonly State[]) {
  const documents = new Map<string, Record<string, State>>();
  for (const one of states) {
    const { id, key } = historyPlace(step, millisOf(one));
    documents.set(id, { ...documents.get(id), [key]: one });
  }
  return [...documents.values()].map((points) => ({ points }));
}

describe("the documents of a range", () => {
  test.each([
    ["minute", "21T14:05:00", "21T16:00:00", "minutes-2026-11-21T14", "minutes-2026-11-21T16"],
    ["hour", "21T14:05:00", "22T16:00:00", "hours-2026-11-21", "hours-2026-11-22"],
    ["day", "21T14:05:00", "21T14:05:00", "hours-2026-11-21", "hours-2026-11-21"],
  ] as const)("by the %s, from %s to %s", (step, from, to, first, last) => {
    expect(historyRange({ step, from: date(from), to: date(to) })).toEqual([first, last]);
  });

  test("are limited to the years with four digits", () => {
    const all = { from: new Date(-8.64e15), to: new Date(8.64e15), step: "minute" } as const;
    expect(historyRange(all)).toEqual(["minutes-1970-01-01T00", "minutes-9999-12-31T23"]);
  });

  test.each<[shown: string, what: string, options: object]>([
    ["Invalid Date", "from", { from: new Date(Number.NaN) }],
    ["2026-11-21", "to", { to: "2026-11-21" }],
    ["1795000000000", "from", { from: 1_795_000_000_000 }],
    ["undefined", "to", { to: undefined }],
    ["null", "from", { from: null }],
    ["week", "step", { step: "week" }],
    ["minutes", "step", { step: "minutes" }],
    ["toString", "step", { step: "toString" }],
    ["undefined", "step", { step: undefined }],
    ["2026-11-22T00:00:00.001Z", "from", { from: date("22T00:00:00.001") }],
  ])("%j is refused as %s: the error has the code, the value and what to do", (shown, what, options) => {
    const call = () => historyRange({ ...day, step: "hour", ...options } as CounterHistoryOptions);
    expect(call).toThrow(CounterError);
    expect(call).toThrow(`counter/invalid-option: ${what} is "${shown}"; pass `);
  });
});

describe("the points of a range", () => {
  const at = (points: readonly { at: Date }[]) => points.map(({ at }) => at.toISOString().slice(8, 19));

  test("are in order, and the last one is the current state", () => {
    const kept = [state(2, date("21T12:59:50")), state(1, date("21T11:30:00"))];
    const points = historyPoints(state(3, date("21T13:10:00")), stored("hour", kept), { ...day, step: "hour" });
    expect(at(points)).toEqual(["21T11:30:00", "21T12:59:50", "21T13:10:00"]);
    expect(points[0]).toEqual({
      at: date("21T11:30:00"),
      total: 10,
      writes: 11,
      rate: 0.1,
      shardCount: 1,
      publishes: 1,
      windows: eachWindow(() => 0),
    });
  });

  test("have the later state of a step with two: the counter was read before its hour was stored", () => {
    const kept = stored("hour", [state(2, date("21T12:59:50"))]);
    const points = historyPoints(state(1, date("21T12:59:40")), kept, { ...day, step: "hour" });
    expect(points.map(({ total }) => total)).toEqual([20]);
  });

  test("belong to their minute up to its last microsecond, and the range includes both ends", () => {
    const kept = stored("minute", [
      state(1, date("21T12:59:59.999"), 999),
      state(2, date("21T13:00:00")),
      state(3, date("21T13:00:59.999"), 500),
    ]);
    const points = historyPoints(undefined, kept, { ...day, step: "minute" });
    expect(at(points)).toEqual(["21T12:59:59", "21T13:00:59"]);
    const one = date("21T12:59:59.999");
    expect(at(historyPoints(undefined, kept, { from: one, to: one, step: "minute" }))).toEqual(["21T12:59:59"]);
  });

  test("by the day are the last state of each day within the range", () => {
    const kept = stored("hour", [
      state(1, date("20T23:00:00")),
      state(2, date("21T01:00:00")),
      state(3, date("21T22:00:00")),
      state(4, date("22T05:00:00")),
    ]);
    const options = { from: date("21T00:00:00"), to: date("22T04:59:59"), step: "day" } as const;
    expect(at(historyPoints(undefined, kept, options))).toEqual(["21T22:00:00"]);
    expect(at(historyPoints(state(5, date("22T04:00:00")), kept, options))).toEqual(["21T22:00:00", "22T04:00:00"]);
  });

  describe("in India, where a day ends at 18:30 UTC", () => {
    const until = (time: string) => ({ seconds: +date(time) / 1_000, nanoseconds: 0 });
    const inIndia = (n: number, at: string, dayEnds: string) => {
      const count = (end: string) => ({ until: until(end), total: n });
      const windows = {
        timeZone: "Asia/Kolkata",
        ...eachWindow(() => count("30T18:30")),
        day: count(dayEnds),
      };
      return { ...state(n, date(at)), windows };
    };

    test("by the day are the last state of each day there, with what was counted on that day", () => {
      const [first, second, third] = [
        inIndia(1, "20T18:29:59", "20T18:30:00"),
        inIndia(2, "20T18:30:00", "21T18:30:00"),
        inIndia(3, "21T18:00:00", "21T18:30:00"),
      ] as const;
      const hours = [{ points: { "18": second, [`18${DAY_END}`]: first } }, { points: { "18": third } }];
      const points = historyPoints(inIndia(4, "21T19:00:00", "22T18:30:00"), hours, {
        from: date("20T00:00:00"),
        to: date("22T00:00:00"),
        step: "day",
      });
      expect(points.map(({ at, windows }) => [at.toISOString().slice(8, 16), windows.day])).toEqual([
        ["20T18:29", 1],
        ["21T18:00", 3],
        ["21T19:00", 4],
      ]);
    });

    test("a state without increments of its day has counted 0 on it", () => {
      const idle = inIndia(5, "21T19:00:00", "21T18:30:00");
      const [point] = historyPoints(idle, [], { ...day, step: "day" });
      expect(point?.windows).toEqual({ ...eachWindow(() => 5), day: 0 });
    });
  });

  test("of a counter that was last published before the range are its state, at the beginning of the range", () => {
    const quiet = {
      ...state(4, date("18T09:00:00")),
      windows: {
        timeZone: "UTC",
        ...eachWindow(() => ({ until: { seconds: +date("30T00:00:00") / 1_000, nanoseconds: 0 }, total: 30 })),
        day: { until: { seconds: +date("19T00:00:00") / 1_000, nanoseconds: 0 }, total: 4 },
      },
    };
    const points = historyPoints(quiet, stored("hour", [state(3, date("17T09:00:00"))]), { ...day, step: "day" });
    expect(points).toMatchObject([{ at: day.from, total: 40, rate: 0, windows: { ...eachWindow(() => 30), day: 0 } }]);
    const future = { from: new Date(Date.now() + 60_000), to: new Date(Date.now() + 120_000) };
    expect(historyPoints(quiet, [], { ...future, step: "day" })).toEqual([]);
    expect(historyPoints(quiet, [], { from: date("17T00:00:00"), to: date("17T12:00:00"), step: "hour" })).toEqual([]);
  });

  test("do not exist for a counter without a published total", () => {
    expect(historyPoints(undefined, [], { ...day, step: "hour" })).toEqual([]);
    expect(historyPoints({ total: 5 }, [{}], { ...day, step: "hour" })).toEqual([]);
  });

  test("are within the range, at most one for each step, whatever is stored", () => {
    const instants = fc.array(fc.date({ min: date("20T00:00:00"), max: date("23T00:00:00"), noInvalidDate: true }));
    const steps = fc.constantFrom("minute", "hour", "day");
    fc.assert(
      fc.property(instants, instants, steps, (published, [one = day.from, other = day.to], step) => {
        const [from, to] = [one, other].sort((a, b) => +a - +b) as [Date, Date];
        const states = published.sort((a, b) => +a - +b).map((at, n) => state(n + 1, at));
        const counter = states.at(-1);
        const points = historyPoints(counter, stored(step === "minute" ? step : "hour", states), { from, to, step });
        const slots = points.map(({ at }) => Math.floor(+at / STEP_MILLIS[step]));
        expect(slots).toEqual([...new Set(slots)].sort((a, b) => a - b));
        for (const point of points) {
          expect(+point.at >= +from && +point.at <= +to).toBe(true);
          const shown = states.find((one) => one.total === point.total);
          // Or the last state before the range, at its beginning.
          const isCarried = shown === counter && +point.at === +from && shown && millisOf(shown) < +from;
          expect(isCarried || (shown && millisOf(shown) === +point.at)).toBe(true);
        }
        if (counter && millisOf(counter) >= +from && millisOf(counter) <= +to)
          expect(points.at(-1)?.total).toBe(counter.total);
      }),
    );
  });
});
