/** What the documents show is what is computed now. After a change that is meant, `npm run report` writes it. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readResults } from "../../bench/results.ts";
import { runCommand } from "../../cli/testing/runCommand.ts";
import { charts, svg, THEMES } from "./charts.ts";
import { breakEven, compared, EXAMPLES } from "./costTables.ts";
import { dearIndex, scanningSweeps } from "./editionTables.ts";
import { fill } from "./fill.ts";
import { documents } from "./report.ts";

test.each(Object.entries(documents()))("%s is as `npm run report` writes it", (file, content) => {
  expect(readFileSync(file, "utf8")).toBe(content);
});

describe("docs/costs.md says that", () => {
  const all = EXAMPLES.map((example) => ({ name: example.name, ...compared(example) }));

  test("one document costs what Tally does, but for a cent, where no counter gets more than one increment per second", () => {
    const calm = all.filter(({ peak }) => peak <= 1);
    expect(calm.length).toBeGreaterThanOrEqual(4);
    for (const { name, designs } of calm) {
      const [tally, , enough] = designs;
      expect(enough.name).toBe("one document");
      expect(tally.dollars - enough.dollars, name).toBeCloseTo(0, 1);
    }
  });

  test("an index of a leaderboard is worth 7 published totals, and sweeps without an index cost $78", () => {
    const text = readFileSync("docs/costs.md", "utf8");
    expect(text).toContain(`more than ${Math.floor(dearIndex())} totals per read`);
    expect(text).toContain(`$${scanningSweeps().toFixed(0)} a month for a million counters`);
  });

  test("Tally is cheapest where counters are now calm and now hot, below tens of millions a month", () => {
    const between = all.filter(({ peak, increments }) => peak > 1 && increments < 2e7);
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

describe("the bill of the site", () => {
  const [command = ""] =
    /(?<=^npx firestore-tally )estimate --pages .*$/m.exec(readFileSync("docs/costs.md", "utf8")) ?? [];

  /** The dollars behind each name in the tables of a document, or as the command prints them. */
  const dollarsIn = (text: string, column: RegExp) =>
    Object.fromEntries([...text.matchAll(column)].map(([, name = "", dollars = ""]) => [name.trim(), dollars]));
  const printed = /^(\S.*?) {2,}(?:[\d,]+ [a-z]+ +)?(-?\$[\d.,]+)/gm;

  test.each([
    ["nam5", "", /^\| \**([^|*]+)\** +\|(?: +[\d,]+ [a-z]+ \|| +\|)? +(-?\$[\d.]+) \|/gm],
    [
      "us-central1",
      "--region regional",
      /^\| \**([^|*]+)\** +\|(?: +[\d,]+ [a-z]+ \|| +\|)? +-?\$[\d.]+ \| +(-?\$[\d.]+) \|/gm,
    ],
  ])("is what its command prints, in %s; a README with it has the same", async (_, region, column) => {
    const { stdout, exitCode } = await runCommand(...`${command} ${region}`.trim().split(" "));
    expect(exitCode).toBe(0);
    const { "a month of 30 days": billed, Tally, ...prints } = dollarsIn(stdout, printed);
    expect(Tally).toBe(billed);
    const block = (file: string, name: string) =>
      new RegExp(`<!-- ${name} -->[^]*<!-- /${name} -->`).exec(readFileSync(file, "utf8"))?.[0];
    const [designs = "", items = ""] = ["costs:bill", "costs:billItems"].map((name) => block("docs/costs.md", name));
    const { Tally: documented, ...others } = dollarsIn(designs, column);
    const { billed: documentedItems, ...documentedRows } = dollarsIn(items, column);
    expect([documented, documentedItems]).toEqual([billed, billed]);
    expect({ ...documentedRows, ...others }).toEqual(prints);
    expect(Object.keys(prints).length).toBeGreaterThan(10);
    expect([undefined, designs]).toContain(block("README.md", "costs:bill"));
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
