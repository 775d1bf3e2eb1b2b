import fc from "fast-check";
import { expect, test } from "vitest";
import { idle } from "../../functions/src/config.fixture.ts";
import { randomFor } from "../../test/simulation/random.ts";
import { Clock } from "./clock.ts";
import { Counter } from "./counter.ts";
import { poisson, zipf } from "./draw.ts";
import { Histogram } from "./histogram.ts";
import { Population } from "./population.ts";
import { withSettings } from "./settings.ts";
import { Shard } from "./shard.ts";

const documents = { sustained: 1, burst: 3, longestQueue: 2 };

test("a document takes a burst at once, then makes writes wait for each other, then refuses them", () => {
  const shard = new Shard();
  expect([1, 2, 3, 4, 5, 6].map(() => shard.offer(0, documents))).toEqual([0, 0, 0, 1_000, 2_000, undefined]);
});

test("a document takes what is sustained for ever, and no more", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(2_000), { minLength: 1, maxLength: 200 }), (gaps) => {
      const shard = new Shard();
      let now = 0;
      const begun = gaps.flatMap((gap) => {
        now += gap;
        const wait = shard.offer(now, documents);
        return wait === undefined ? [] : [now + wait];
      });
      // In order; and any four in a row take a second, since three may be a burst.
      expect(begun).toEqual([...begun].sort((a, b) => a - b));
      for (let i = 3; i < begun.length; i++) {
        const { burst, sustained } = documents;
        const first = begun[0] as number;
        expect(i + 1).toBeLessThanOrEqual(burst + ((begun[i] as number) - first) * (sustained / 1_000) + 1e-6);
      }
    }),
  );
});

test("the clock runs what is due in the order of ticks, nothing twice and nothing early", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(500)), (times) => {
      const clock = new Clock();
      const ran: { due: number; now: number }[] = [];
      for (const due of times) clock.at(due, { run: (now) => ran.push({ due, now }) });
      while (clock.now < 600) clock.advance();
      expect(ran.map(({ due }) => due).sort()).toEqual([...times].sort());
      expect(ran.every(({ due, now }) => now >= due && now < due + 20)).toBe(true);
      expect(ran.map(({ now }) => now)).toEqual(ran.map(({ now }) => now).sort((a, b) => a - b));
    }),
  );
});

test("a quantile is right to 5 %", () => {
  const histogram = new Histogram();
  for (let duration = 1; duration <= 10_000; duration++) histogram.add(duration);
  for (const share of [0.5, 0.95, 0.99]) {
    expect(histogram.quantile(share)).toBeGreaterThanOrEqual(share * 10_000);
    expect(histogram.quantile(share)).toBeLessThanOrEqual(share * 10_500);
  }
  expect([histogram.quantile(1), new Histogram().quantile(0.5)]).toEqual([10_000, Number.NaN]);
});

test.each([0, 0.1, 5, 300])("of %d expected events, so many come on average", (expected) => {
  const random = randomFor(1, "events");
  const draws = Array.from({ length: 5_000 }, () => poisson(expected, () => random.next()));
  const mean = draws.reduce((sum, one) => sum + one, 0) / draws.length;
  expect(Math.abs(mean - expected)).toBeLessThanOrEqual(5 * Math.sqrt(expected / draws.length));
});

test("by Zipf's law the second is half as popular as the first, the tenth a tenth", () => {
  const random = randomFor(1, "popularity");
  const draw = zipf(1_000);
  const times = Array.from({ length: 10 }, () => 0);
  for (let i = 0; i < 200_000; i++) {
    const rank = draw(() => random.next());
    if (rank < 10) times[rank] = (times[rank] as number) + 1;
  }
  const [first = 0, second = 0, , , , , , , , tenth = 0] = times;
  expect(second / first).toBeCloseTo(0.5, 1);
  expect(tenth / first).toBeCloseTo(0.1, 1);
});

test.each([
  ["doubts, and asks first, and then knows", 1, [20, 200, 200]],
  ["believes", 0, [20, 20, 20]],
])("a client that saw a counter grow %s", (_, doubtsGrowth, widths) => {
  const clock = new Clock();
  const settings = withSettings([`doubtsGrowth=${doubtsGrowth}`]);
  const population = new Population({ clients: 1, perClient: Infinity }, clock, settings, () => 0.5);
  const counter = new Counter(0);
  counter.document = { ...idle, shardCount: 20, growing: true };
  const sent = [];
  for (let increment = 0; increment < 3; increment++) {
    const { client, readyAt } = population.next(counter, clock.now);
    while (clock.now < readyAt) clock.advance();
    sent.push(client.spread._width());
    counter.document = { ...counter.document, shardCount: 200, growing: false };
  }
  expect(sent).toEqual(widths);
  expect(counter.bill["shard count, by clients"]).toBe(1 + doubtsGrowth);
});
