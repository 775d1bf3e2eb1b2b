/** The beacon in pages of a simulated site. The server counts the batches of one id once. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Page, SimulatedSite, UNLISTED, type Weather } from "./simulatedSite.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const newSite = () => new SimulatedSite(1);
const bodies = (site: SimulatedSite) => site.sent.map(({ body }) => JSON.parse(body));
const withCode = (errors: unknown[], code: string) =>
  errors.filter((error) => (error as { code: string }).code === code);
const total = ({ counted }: SimulatedSite) => Object.values(counted).reduce((sum, by) => sum + by, 0);

describe("a beacon", () => {
  test("sends the amounts of all counters in one batch, an interval after the first, and then nothing", async () => {
    const site = newSite();
    const { beacon } = site.open({ flushInterval: 1_000 });
    beacon.count("views:a");
    beacon.count("views:b", 7);
    for (let n = 0; n < 20; n++) beacon.count("views:a");
    await site.advance(999);
    expect(site.sent).toEqual([]);
    await site.advance(HOUR);
    const events = [
      { counter: "views:a", by: 21 },
      { counter: "views:b", by: 7 },
    ];
    expect(bodies(site)).toEqual([{ id: expect.stringMatching(/^[\w+/]{36}$/), skipInvalid: true, events }]);
    expect(site.storage).toEqual({});
  });

  test("makes several events of a sum above maxAmount, and several batches of many events", async () => {
    const site = newSite();
    const { beacon } = site.open({ maxAmount: 10 });
    beacon.count("views:a", 25);
    beacon.count("views:b", 20_000);
    for (let n = 0; n < 100; n++) beacon.count(`views:${"é".repeat(700)}${n}`);
    await site.advance(5_000);
    const all = bodies(site).flatMap(({ events }) => events);
    expect(all.flatMap(({ counter, by }) => (counter === "views:a" ? by : []))).toEqual([10, 10, 5]);
    expect(Math.max(...all.map(({ by }) => by))).toBe(10);
    expect(Math.max(...bodies(site).map(({ events }) => events.length))).toBeLessThanOrEqual(500);
    expect(Math.max(...site.sent.map(({ body }) => Buffer.byteLength(body)))).toBeLessThan(60_000);
    expect(total(site)).toBe(20_125);
  });

  test("has in each event a whole number up to maxAmount, and in all of them what was counted", async () => {
    const amounts = fc.array(
      fc.record({ counter: fc.constantFrom("a", "b", "c"), by: fc.integer({ min: 1, max: 60 }) }),
    );
    const property = fc.asyncProperty(amounts, fc.integer({ min: 1, max: 20 }), async (counts, maxAmount) => {
      const site = newSite();
      const { beacon } = site.open({ maxAmount });
      const expected: Record<string, number> = {};
      for (const { counter, by } of counts) {
        beacon.count(counter, by);
        expected[counter] = (expected[counter] ?? 0) + by;
      }
      await site.advance(MINUTE);
      expect(site.counted).toEqual(expected);
      for (const { by } of bodies(site).flatMap(({ events }) => events)) {
        expect(Number.isInteger(by) && by >= 1 && by <= maxAmount).toBe(true);
      }
    });
    await fc.assert(property, { numRuns: 50 });
  });

  test("sends at once when the page becomes hidden, and what a page that is closed could not send, the next one sends", async () => {
    const site = newSite();
    const first = site.open({ flushInterval: HOUR });
    first.beacon.count("views:a");
    await first.hide();
    await site.advance(1_000);
    expect(total(site)).toBe(1);
    first.beacon.count("views:a", 2);
    site.weather = "offline";
    await first.close();
    await site.advance(HOUR);
    expect(Object.keys(site.storage ?? {}).length).toBe(1);
    site.weather = "fine";
    site.open();
    await site.advance(1_000);
    expect([total(site), site.storage]).toEqual([3, {}]);
  });

  test("resolves flush and close when the function has acknowledged, also after failures", async () => {
    const site = newSite();
    const { beacon } = site.open();
    site.weather = "unsure";
    beacon.count("views:a");
    let isFlushed = false;
    void beacon.close().then(() => {
      isFlushed = true;
    });
    await site.advance(10_000);
    expect(isFlushed).toBe(false);
    site.weather = "fine";
    await site.advance(2 * MINUTE);
    expect([isFlushed, total(site)]).toEqual([true, 1]);
  });

  test("adds amounts up while the function cannot be reached, and tries more and more rarely, up to once a minute", async () => {
    const site = newSite();
    const { beacon } = site.open();
    site.weather = "broken";
    for (let n = 0; n < 7_200; n++) {
      beacon.count("views:a");
      await site.advance(1_000);
    }
    expect(new Set(bodies(site).map(({ id }) => id)).size).toBe(1);
    expect(site.sent.length).toBeGreaterThan(120);
    expect(site.sent.length).toBeLessThan(400);
    site.weather = "fine";
    await site.advance(2 * MINUTE);
    expect([total(site), new Set(bodies(site).map(({ id }) => id)).size]).toEqual([7_200, 2]);
  });

  test("respects Retry-After, also when the page becomes hidden", async () => {
    const site = newSite();
    const page = site.open();
    [site.weather, site.retryAfter] = ["busy", "600"];
    page.beacon.count("views:a");
    await site.advance(2_000);
    page.beacon.count("views:a");
    await page.hide();
    await site.advance(9.9 * MINUTE);
    expect(site.sent.length).toBe(1);
    site.weather = "fine";
    await site.advance(MINUTE);
    expect(total(site)).toBe(2);
  });

  test("drops a batch that is refused, tells onError why, and goes on", async () => {
    const site = newSite();
    const { beacon, errors } = site.open();
    site.weather = "broken";
    beacon.count("views:a");
    await site.advance(1_500);
    site.weather = "refused";
    await site.advance(MINUTE);
    const refusal = { code: "counter/dropped", message: "counter/dropped: 403 origin" };
    expect([errors, site.storage]).toEqual([[expect.objectContaining(refusal)], {}]);
    site.weather = "fine";
    beacon.count("views:b");
    await site.advance(2_000);
    expect(site.counted).toEqual({ "views:b": 1 });
  });

  test("drops the events alone that are refused, and tells the amount and the reason, once per counter", async () => {
    const site = newSite();
    const { beacon, errors } = site.open({ maxAmount: 2 });
    beacon.count("views:a", 3);
    for (const name of ["x", "y"]) beacon.count(`${UNLISTED}${name}`, 3);
    await site.advance(MINUTE);
    expect([site.counted, site.storage]).toEqual([{ "views:a": 3 }, {}]);
    expect(errors.map((error) => (error as Error).message)).toEqual([
      "counter/dropped: 3 for unlisted:x: 403 counter is not listed",
      "counter/dropped: 3 for unlisted:y: 403 counter is not listed",
    ]);
  });

  test("counts what is above a limit of the function again within it, before flush resolves, and obeys it from then on", async () => {
    const site = newSite();
    [site.maxAmount, site.maxSum] = [7, 20];
    const { beacon, errors } = site.open({ flushInterval: HOUR });
    const settled: number[] = [];
    for (let n = 1; n <= 3; n++) {
      beacon.count("views:a", 50);
      beacon.count("views:b");
      void beacon.flush().then(() => settled.push(total(site)));
      await site.advance(MINUTE);
    }
    expect([site.counted, settled, errors]).toEqual([{ "views:a": 150, "views:b": 3 }, [51, 102, 153], []]);
    // Only the first event is too large.
    expect(
      Math.max(
        ...bodies(site)
          .slice(-6)
          .flatMap(({ events }) => events.map(({ by }: { by: number }) => by)),
      ),
    ).toBe(7);
  });

  test("tells that the function does not answer after about a minute, once until it has answered, and goes on", async () => {
    const site = newSite();
    const { beacon, errors } = site.open();
    const told = () => withCode(errors, "counter/unavailable").length;
    beacon.count("views:a");
    [site.weather, site.onLine] = ["offline", false];
    await site.advance(HOUR);
    expect(told()).toBe(0);
    for (const [n, weather] of (["offline", "portal", "wall"] as const).entries()) {
      [site.weather, site.onLine] = [weather, true];
      await site.advance(2_000);
      beacon.count("views:a");
      expect(told()).toBe(n);
      await site.advance(HOUR);
      expect(told()).toBe(n + 1);
      site.weather = "fine";
      await site.advance(2 * MINUTE);
      expect(total(site)).toBe(n + 2);
    }
    expect(errors.length).toBe(3);
    expect(errors[0]).toMatchObject({ message: expect.stringContaining("https://example.com/ingest does not answer") });
    site.weather = "unsure";
    beacon.count("views:a");
    await site.advance(HOUR);
    expect(told()).toBe(3);
  });

  test("drops the oldest beyond 50 batches that wait, and those older than 12 hours", async () => {
    const site = newSite();
    const page = site.open();
    site.weather = "offline";
    for (let n = 0; n < 60; n++) {
      page.beacon.count(`views:${n}`);
      await page.hide();
      await site.advance(1);
    }
    await site.advance(2 * MINUTE);
    const dropped = withCode(page.errors, "counter/dropped");
    expect([dropped.length, Object.keys(site.storage ?? {}).length]).toEqual([10, 50]);
    await page.close();
    await site.advance(11 * HOUR);
    site.weather = "fine";
    const next = site.open();
    await site.advance(1_000);
    expect(Object.keys(site.counted).sort()).toEqual(Array.from({ length: 50 }, (_, n) => `views:${n + 10}`).sort());
    await next.close();
    // If the clock was set back, the age is not known.
    for (const elapsed of [12 * HOUR + 1, -13 * HOUR]) {
      const page = site.open();
      site.weather = "offline";
      page.beacon.count("views:late");
      await page.close();
      await site.advance(1_000);
      site.now += elapsed;
      site.weather = "fine";
      const last = site.open();
      await site.advance(MINUTE);
      expect(last.errors).toEqual([expect.objectContaining({ code: "counter/dropped" })]);
      expect([site.counted["views:late"], site.storage]).toEqual([undefined, {}]);
    }
  });

  test.each([
    ["may not store anything", undefined],
    ["has a full storage", new Proxy({}, { set: () => false })],
  ])("keeps batches in memory where it %s", async (_what, storage) => {
    const site = newSite();
    site.storage = storage;
    const page = site.open();
    site.weather = "offline";
    page.beacon.count("views:a");
    await page.hide();
    await site.advance(HOUR);
    site.weather = "fine";
    await site.advance(2 * MINUTE);
    expect(total(site)).toBe(1);
  });

  test("leaves what others have stored alone", async () => {
    const site = newSite();
    site.storage = { "tally https://example.com/ingest2 1": "other", theme: "dark" };
    site.open();
    await site.advance(HOUR);
    expect([site.sent, Object.keys(site.storage).length]).toEqual([[], 2]);
  });

  test("of a page that prerenders sends and stores nothing until the page is shown, and then what was counted, once", async () => {
    const site = newSite();
    site.weather = "offline";
    const earlier = site.open();
    earlier.beacon.count("views:a");
    await earlier.close();
    await site.advance(1_000);
    const stored = { ...site.storage };
    site.weather = "fine";
    const page = site.open({}, { prerendering: true });
    let isFlushed = false;
    page.beacon.count("views:a");
    for (let n = 0; n < 600; n++) page.beacon.count(`views:page${n}`);
    page.beacon.flush().then(() => {
      isFlushed = true;
    });
    await site.advance(MINUTE);
    page.beacon.count("views:a");
    await page.hide();
    await site.advance(MINUTE);
    expect([site.sent, site.storage, isFlushed]).toEqual([[], stored, false]);
    site.weather = "offline";
    await page.show();
    await site.advance(1_000);
    // From now on, the batches survive the page.
    expect([Object.keys(site.storage ?? {}).length, isFlushed]).toEqual([5, false]);
    site.weather = "fine";
    await site.advance(MINUTE);
    expect([isFlushed, total(site), site.counted["views:a"], site.storage]).toEqual([true, 603, 3, {}]);
    expect(Math.max(...bodies(site).map(({ events }) => events.length))).toBeLessThanOrEqual(500);
    page.beacon.count("views:a");
    await site.advance(2_000);
    expect(total(site)).toBe(604);
  });

  test("of a page that prerenders and is never shown counts nothing, also not by the next page", async () => {
    const site = newSite();
    const page = site.open({}, { prerendering: true });
    page.beacon.count("views:a");
    await site.advance(MINUTE);
    await page.close();
    site.open();
    await site.advance(HOUR);
    expect([site.sent, site.storage]).toEqual([[], {}]);
  });

  test("refuses amounts that are no whole number from 1", () => {
    const { beacon } = newSite().open();
    for (const by of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => beacon.count("views:a", by)).toThrow(expect.objectContaining({ code: "counter/invalid-amount" }));
    }
  });
});

/** Something that happens. `which` chooses among the pages that are open. */
type Step =
  | readonly ["count", which: number, by: number]
  | readonly ["open" | "flush" | "hide" | "close", which: number]
  | readonly ["wait", millis: number]
  | readonly ["unlisted", which: number]
  | readonly ["limits", maxAmount: number, maxSum: number]
  | readonly ["weather", weather: Weather];

function steps(
  weathers: readonly Weather[],
  longest: number,
  others: fc.WeightedArbitrary<Step>[] = [],
): fc.Arbitrary<Step[]> {
  const which = fc.nat(5);
  const step = fc.oneof<fc.WeightedArbitrary<Step>[]>(
    { weight: 5, arbitrary: fc.tuple(fc.constant("count"), which, fc.integer({ min: 1, max: 300 })) },
    { weight: 3, arbitrary: fc.tuple(fc.constantFrom("open", "flush", "hide", "close"), which) },
    { weight: 4, arbitrary: fc.tuple(fc.constant("wait"), fc.integer({ min: 1, max: 3_000 })) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("wait"), fc.integer({ min: 1, max: longest })) },
    { weight: 3, arbitrary: fc.tuple(fc.constant("weather"), fc.constantFrom(...weathers)) },
    ...others,
  );
  return fc.array(step, { maxLength: 45, size: "max" });
}

/** Counters that the server does not list, and limits that it lowers. */
const REFUSALS: fc.WeightedArbitrary<Step>[] = [
  { weight: 2, arbitrary: fc.tuple(fc.constant("unlisted"), fc.nat(5)) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constant("limits"), fc.integer({ min: 20, max: 120 }), fc.integer({ min: 60, max: 600 })),
  },
];

async function simulate(seed: number, history: readonly Step[]) {
  const site = new SimulatedSite(seed);
  const opened: Page[] = [];
  let pages: Page[] = [];
  let made = 0;
  let unlisted = 0;
  const open = () => {
    const page = site.open();
    opened.push(page);
    pages.push(page);
    return page;
  };
  for (const step of history) {
    const page = pages[Number(step[1]) % pages.length];
    if (step[0] === "wait") await site.advance(step[1]);
    else if (step[0] === "weather") site.weather = step[1];
    else if (step[0] === "open") open();
    else if (step[0] === "limits") {
      site.maxAmount = Math.min(site.maxAmount, step[1]);
      site.maxSum = Math.min(site.maxSum, step[2]);
    } else if (step[0] === "unlisted") {
      unlisted++;
      (page ?? open()).beacon.count(`${UNLISTED}a`);
    } else if (step[0] === "count") {
      made += step[2];
      (page ?? open()).beacon.count("views:a", step[2]);
    } else if (step[0] === "flush") void page?.beacon.flush();
    else if (step[0] === "hide") await page?.hide();
    else if (page) {
      pages = pages.filter((one) => one !== page);
      await page.close();
    }
  }
  site.weather = "fine";
  await site.advance(5 * MINUTE);
  open();
  await Promise.all([...pages.map(({ beacon }) => beacon.flush()), site.advance(MINUTE)]);
  const errors = withCode(
    opened.flatMap((page) => page.errors),
    "counter/dropped",
  );
  return { site, made, unlisted, counted: total(site), errors: errors.map((error) => (error as Error).message) };
}

const UNCERTAIN: Weather[] = ["fine", "offline", "cut", "portal", "wall", "busy", "broken", "unsure"];

describe("whatever answers, failures, closings and reopenings come", () => {
  test("each amount counts exactly once, and nothing is left", async () => {
    const property = fc.asyncProperty(fc.nat(), steps(UNCERTAIN, 10 * MINUTE), async (seed, history) => {
      const { site, made, counted, errors } = await simulate(seed, history);
      expect([counted, errors, site.storage]).toEqual([made, [], {}]);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  test("with refusals, each amount counts exactly once, or was in a batch that onError was told of", async () => {
    const weathers = [...UNCERTAIN, "refused" as const];
    const property = fc.asyncProperty(fc.nat(), steps(weathers, 10 * MINUTE), async (seed, history) => {
      const { site, made, counted, errors } = await simulate(seed, history);
      expect(counted + site.refused).toBe(made);
      // A page that is closed meanwhile is not told.
      if (errors.length === 0 && !history.some(([what]) => what === "close")) expect(counted).toBe(made);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  test("with limits that the server lowers and counters that it does not list, no amount counts twice, and each loss is told", async () => {
    const property = fc.asyncProperty(fc.nat(), steps(UNCERTAIN, 10 * MINUTE, REFUSALS), async (seed, history) => {
      const { site, made, counted, errors } = await simulate(seed, history);
      expect([counted <= made, site.storage]).toEqual([true, {}]);
      if (errors.every((message) => message.includes(UNLISTED))) expect(counted).toBe(made);
    });
    await fc.assert(property, { numRuns: 500 });
  });

  test("with the same and no attempt in doubt, each listed amount counts exactly once, and all others are told", async () => {
    const history = steps(["fine", "busy"], 10 * MINUTE, REFUSALS).map((all) =>
      all.filter(([what]) => what !== "open" && what !== "close"),
    );
    const property = fc.asyncProperty(fc.nat(), history, async (seed, history) => {
      const { made, unlisted, counted, errors } = await simulate(seed, history);
      const told = errors.map((message) => Number(/^counter\/dropped: (\d+) for unlisted:a: 403 /.exec(message)?.[1]));
      expect([counted, told.reduce((sum, by) => sum + by, 0)]).toEqual([made, unlisted]);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  test("over days, no amount counts twice", async () => {
    const property = fc.asyncProperty(fc.nat(), steps(UNCERTAIN, 30 * HOUR), async (seed, history) => {
      const { made, counted, errors, site } = await simulate(seed, history);
      expect(counted).toBeLessThanOrEqual(made);
      if (errors.length === 0) expect(counted).toBe(made);
      expect(site.storage).toEqual({});
    });
    // Each run has days of attempts.
    await fc.assert(property, { numRuns: 10 });
  });
});
