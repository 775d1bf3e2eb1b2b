/** What docs/security.md says, as far as a machine can tell: its tests exist, its sums are right, its lists complete. */
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { PRICES } from "../../costs/src/index.ts";

const unwrapped = (file: string) =>
  readFileSync(file, "utf8")
    .replace(/\n {2}/g, " ")
    .replace(/(?<=[^\n|])\n(?=[^\n|#-])/g, " ");

const document = unwrapped("docs/security.md");

/** `test/rules/rules.test.ts` "refuses the replay of a write" */
const citations = [...`${document}${unwrapped("test/rules/README.md")}`.matchAll(/`([\w/.]+\.ts)` "([^"]+)"/g)].map(
  ([, file = "", name = ""]) => ({
    file,
    name,
  }),
);

/** The names of tests and groups in a file. One that is skipped has none. */
function namesIn(file: string): Set<string> {
  const calls = readFileSync(file, "utf8").matchAll(
    /(?:\b(?:test|describe)(?:\.concurrent)?|\))\(\s*(["`])(.+?)\1,\s/g,
  );
  return new Set([...calls].map(([, , name = ""]) => name));
}

test("every test that docs/security.md and test/rules/README.md cite exists and runs", () => {
  expect(citations.length).toBeGreaterThan(40);
  for (const { file, name } of citations) {
    expect(existsSync(file), file).toBe(true);
    expect([...namesIn(file)], `${file} has no such test`).toContain(name);
  }
});

test("every file it cites is cited in that form", () => {
  const mentions = [...document.matchAll(/`([\w/]+\.test\.ts)`(?! ")/g)].map(([, file]) => file);
  expect(mentions).toEqual(["test/functions/hostileCosts.test.ts"]);
});

describe("its figures", () => {
  const { read, write, delete: deleted, invocation, task } = PRICES.nam5;
  const PRICE = [read, write, deleted, invocation, task].map((price) => price * 1e6);

  test("are its counts of documents, invocations and tasks at its prices", () => {
    const rows = [...document.matchAll(/^\| [^|]+? \|((?: +\d+ +\|){5}) +([\d.]+) +\|$/gm)];
    expect(rows).toHaveLength(4);
    for (const [row, counts = "", dollars] of rows) {
      const sum = counts
        .split("|")
        .slice(0, 5)
        .reduce((all, count, n) => all + Number(count) * (PRICE[n] as number), 0);
      expect(sum.toFixed(2), row).toBe(dollars);
    }
  });

  test("of ingest are its documents and a hundred invocations a second, in a day", () => {
    const rows = [...document.matchAll(/^\| [^|]+? \| ([\d,]+) +\| ([\d,]+) +\| ([\d,]+) +\| ([\d,]+) +\|$/gm)];
    expect(rows).toHaveLength(6);
    for (const [row, ...figures] of rows) {
      const [reads, writes, deletes, dollars] = figures.map((figure) => Number(figure.replace(",", "")));
      const perSecond = Number(reads) * read + Number(writes) * write + Number(deletes) * deleted + 100 * invocation;
      expect(Math.round(86_400 * perSecond), row).toBe(dollars);
    }
  });

  test("of many shards are what a measurement by the index reads, and one a second in a day", () => {
    const rows = [...document.matchAll(/^\| ([\d,]+) +\| (\d+) +\| \$([\d.]+) +\| \$([\d.]+) +\|$/gm)];
    expect(rows).toHaveLength(3);
    for (const [row, shards = "", reads, one, day] of rows) {
      // Both aggregations; the counter document, and the task's look at it.
      expect(Number(reads), row).toBe(2 * Math.ceil(Number(shards.replace(",", "")) / 1_000) + 2);
      const measurement = Number(reads) * 0.6e-6;
      expect(Number(one), row).toBeCloseTo(measurement, 9);
      expect(Number(day), row).toBeCloseTo(measurement * 86_400, 2);
    }
  });
});

test("its roles are those of extension.yaml", () => {
  const roles = [...readFileSync("extension.yaml", "utf8").matchAll(/^ +- role: (\S+)/gm)].map(([, role]) => role);
  const table = document.slice(document.indexOf("| role in `extension.yaml`"));
  const named = [...table.slice(0, table.indexOf("\n\n")).matchAll(/^\| `([\w.]+)`/gm)].map(([, role]) => role);
  expect(named).toEqual(roles);
});
