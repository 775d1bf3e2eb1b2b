import fc from "fast-check";
import { expect, test } from "vitest";
import { idle } from "../../functions/testing/arbitraries.ts";
import { randomFor } from "../../testkit/random.ts";
import { Backend } from "./backend.ts";
import { Clock } from "./clock.ts";
import { Counter } from "./counter.ts";
import { poisson, zipf } from "./distributions.ts";
import { Histogram } from "./histogram.ts";
import { Metrics } from "./metrics.ts";
import { Population } from "./population.ts";
import { withSettings } from "./settings.ts";
import { Shard } from "./shard.ts";
import { Write } from "./write.ts";

const documents = { perSecond: 1, burst: 3, longestWait: 2_000 };

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
        const { burst, perSecond } = documents;
        const first = begun[0] as number;
        expect(i + 1).toBeLessThanOrEqual(burst + ((begun[i] as number) - first) * (perSecond / 1_000) + 1e-6);
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

test("a client reads the shard count of an unpublished counter before each write, and every two minutes when it is published", () => {
  const clock = new Clock();
  const population = new Population({ clients: 1, perClient: Infinity }, clock, withSettings([]), () => 0.5);
  const counter = new Counter();
  const client = population.next();
  const widths = [0, 5_000, 10_000, 129_000, 131_000].map((time) => {
    while (clock.now < time) clock.advance();
    if (time === 10_000) counter.published = { ...idle, shardCount: 20 };
    if (time === 129_000) counter.published = { ...idle, shardCount: 200 };
    const readyAt = population.refreshShardCount(client, counter, clock.now);
    while (clock.now < readyAt) clock.advance();
    return client.shardCountCache._shardsToChooseFrom();
  });
  expect(widths).toEqual([1, 1, 20, 20, 200]);
  expect(counter.bill["shard count, by clients"]).toBe(4);
});

test("a refused write moves to another shard, one that the SDK's queue has is sent to the same again", () => {
  const tried = (watching: number) => {
    const clock = new Clock();
    const settings = withSettings([`watching=${watching}`, "burst=1", "longestWait=0", "abandonAfter=30000"]);
    const metrics = new Metrics(1_000, 0, 60_000);
    const backend = new Backend(clock, settings, () => metrics);
    const random = randomFor(1, "shards");
    const world = {
      clock,
      settings,
      backend,
      metrics: () => metrics,
      random: () => random.next(),
      waiting: new Set<Write>(),
    };
    const counter = new Counter();
    const population = new Population({ clients: 2, perClient: 1 }, clock, settings, () => 0.5);
    for (let write = 0; write < 3; write++) new Write(world, counter, population, clock.now);
    while (clock.now < 30_000) clock.advance();
    return counter.list().filter(({ id }) => id !== "0").length;
  };
  expect(tried(0)).toBeGreaterThan(0);
  expect(tried(1)).toBe(0);
});
