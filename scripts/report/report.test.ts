/** What the documents show is what is computed now. After a change that is meant, `npm run report` writes it. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readResults } from "../../bench/results.ts";
import { charts, svg, THEMES } from "./charts.ts";
import { breakEven, compared, EXAMPLES } from "./costTables.ts";
import { fill } from "./fill.ts";
import { documents } from "./report.ts";

test.each(Object.entries(documents()))("%s is as `npm run report` writes it", (file, content) => {
  expect(readFileSync(file, "utf8")).toBe(content);
});

describe("docs/costs.md says that", () => {
  const all = EXAMPLES.map((example) => ({ name: example.name, ...compared(example) }));

  test("one document costs what Tally does without the sweep where no counter gets more than one increment per second", () => {
    const calm = all.filter(({ peak }) => peak <= 1);
    expect(calm.length).toBeGreaterThanOrEqual(4);
    const [, more = Number.NaN] =
      /less the sweep, \$([\d.]+) a month/.exec(readFileSync("docs/costs.md", "utf8")) ?? [];
    for (const { name, designs } of calm) {
      const [tally, , enough] = designs;
      expect(enough.name).toBe("one document");
      expect(tally.dollars - enough.dollars, name).toBeCloseTo(Number(more), 1);
    }
  });

  test("Tally is cheapest where counters are now calm and now hot, below tens of millions a month", () => {
    const between = all.filter(({ peak, increments }) => peak > 10 && increments < 2e7);
    expect(between.length).toBeGreaterThanOrEqual(2);
    for (const { name, peak, designs } of between) {
      const [tally, ...others] = designs;
      const able = others.filter(({ maxPerSecond = peak }) => maxPerSecond >= peak);
      for (const other of able) expect(tally.dollars, `${name}: ${other.name}`).toBeLessThan(other.dollars);
    }
  });

  test("Redis is cheaper from some tens of millions of increments a month on", () => {
    for (const views of [0, 1, 10]) {
      expect(breakEven(views)).toBeGreaterThan(1e7);
      expect(breakEven(views)).toBeLessThan(1e8);
    }
  });
});

test("in each recorded result of Tally, every acknowledged increment counts, and none twice", () => {
  const loads = [...readResults("contest").results, ...readResults("slow").results];
  const exact = [...loads.filter(({ approach }) => approach === "tally"), ...readResults("freshness").results];
  expect(exact.filter((result) => !result.exact)).toEqual([]);
  const crowds = readResults("crowd").results.filter(({ target }) => target === "tally");
  expect(crowds.filter(({ counted, acknowledged, offered }) => counted < acknowledged || counted > offered)).toEqual(
    [],
  );
  expect([exact.length, crowds.length].map((length) => length > 10)).toEqual([true, true]);
});

describe("a chart", () => {
  const [contest, slow] = [readResults("contest").results, readResults("slow").results];
  const all = charts(contest, slow, readResults("simulation").results);

  test("is drawn of each result that was recorded", () => {
    expect(all.map(({ name }) => name)).toEqual(["viral", "slow", "crowd", "day"]);
    expect(charts([], [], []).map(({ name }) => name)).toEqual([]);
  });

  test.each(all.map((chart) => [chart.name, chart] as const))(
    "%s has a title and a description, and is the same on light and dark pages but for its colours",
    (_, chart) => {
      const [light, dark] = [svg(chart, THEMES.light), svg(chart, THEMES.dark)];
      for (const drawn of [light, dark]) {
        expect(drawn).toMatch(
          /^<svg [^>]*role="img" aria-labelledby="title description">\n<title id="title">[^<]{10,}</,
        );
        expect(drawn).toMatch(/<desc id="description">[^<]{40,}</);
        expect(drawn).not.toMatch(/NaN|Infinity|undefined/);
      }
      expect(light).not.toBe(dark);
      const uncoloured = (drawn: string) => drawn.replaceAll(/#[0-9a-f]{6}/g, "#");
      expect(uncoloured(light)).toBe(uncoloured(dark));
    },
  );
});

describe("a document", () => {
  const text = "# Title\n\n<!-- a:b -->\n\nold\n\n<!-- /a:b -->\n\nEnd\n";

  test("has its part between the markers, and nothing else changed", () => {
    expect(fill(text, { "a:b": "new" })).toBe(text.replace("old", "new"));
    expect(fill(fill(text, { "a:b": "" }), { "a:b": "old" })).toBe(text);
  });

  test("with a place for an unknown part is refused", () => {
    expect(() => fill(text, { "a:c": "" })).toThrow("a:b");
  });
});
