/** A fact that stands in several places: prices, defaults, ranges, counts and limits, compared with the code. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  COUNTER_COLLECTIONS,
  DEFAULT_COLLECTION,
  MARK_LIFETIME_SECONDS,
  MARK_SLOT_MILLIS,
  MARK_SLOTS,
  MAX_SHARDS,
  NONCE_BYTES,
} from "../../core/src/index.ts";
import { BYTES, billingOf, counterBytes, ENTERPRISE_PRICES, markedShard, PRICES } from "../../costs/src/index.ts";
import { DEFAULT_SETTINGS, settingsOn } from "../../functions/src/decisions.ts";
import { PARAMETERS } from "../../functions/src/deploy/parameters.ts";

const read = (file: string) => readFileSync(file, "utf8").replace(/\s*\n\s*(?![|#-])/g, " ");
const thousands = (n: number) => n.toLocaleString("en-US");

/** The rows of the tables with the columns parameter, default, accepted. Of two rows, the first is that. */
const rows = new Map(
  [...readFileSync("docs/configuration.md", "utf8").matchAll(/^\| `([A-Z_]+)` +\| (.*?) +\| (.*?) +\|$/gm)]
    .map(([, name = "", value = "", accepted = ""]) => [name, { value, accepted }] as const)
    .reverse(),
);

test("docs/configuration.md has each parameter; scripts/derived.test.ts compares what it says of them", () => {
  expect([...rows.keys()].toSorted()).toEqual(Object.keys(PARAMETERS).toSorted());
});

describe("limits", () => {
  const dataModel = read("docs/data-model.md");

  test("of marks are those of core and of the rules", () => {
    expect([MARK_LIFETIME_SECONDS, MARK_SLOT_MILLIS, MARK_SLOTS, NONCE_BYTES]).toEqual([120, 61_000, 5, 5]);
    expect(dataModel).toContain(`\`floor(now / ${thousands(MARK_SLOT_MILLIS)}) mod ${MARK_SLOTS}\``);
    expect(dataModel).toContain(`${NONCE_BYTES} random bytes`);
    expect(dataModel).toContain("A mark lives for two minutes at least");
    expect(readFileSync("firestore.rules", "utf8")).toContain(`duration.value(${MARK_LIFETIME_SECONDS / 60}, 'm')`);
    expect(rows.get("SHRINK_COOLDOWN_SECONDS")?.accepted).toContain(`from ${MARK_LIFETIME_SECONDS} to`);
  });

  test("of shards and ids are those of core", () => {
    expect(dataModel).toContain(`a decimal index from \`0\` to \`${MAX_SHARDS - 1}\``);
    expect(dataModel).toContain(`Never use an index above ${thousands(MAX_SHARDS - 1)}`);
    expect(read("docs/security.md")).toContain(`spread a counter over ${thousands(MAX_SHARDS)} shards`);
    expect(rows.get("MIN_SHARDS")?.accepted).toContain(thousands(MAX_SHARDS));
    expect(rows.get("COLLECTION")?.value).toBe(`\`${DEFAULT_COLLECTION}\``);
  });
});

test("deleteCounter deletes all collections of docs/data-model.md that are below a counter, but the receipts", () => {
  const table = readFileSync("docs/data-model.md", "utf8").matchAll(
    /(?<=^\|.*)`(\w+)\/[^/`]+`(?=.* \| .* \| .* \|$)/gm,
  );
  const names = new Set([...table].map(([, name]) => name));
  expect(names.delete(DEFAULT_COLLECTION) && names.delete("tallyReceipts")).toBe(true);
  expect([...names].toSorted()).toEqual(COUNTER_COLLECTIONS.toSorted());
});

test("what scans without an index on Enterprise, and for how many units, stands in docs/api.md and in the doc comments", () => {
  const billing = billingOf(ENTERPRISE_PRICES.regional);
  // Of a steady counter, a shard has as many writes as its counter allows, of clients that watch.
  const { bytes } = markedShard(0.7 * settingsOn("enterprise", DEFAULT_SETTINGS).writesPerShard, 1);
  const [counters, entries] = [counterBytes(), BYTES.entry].map((size) => billing.list(1_000, size));
  const units = { getTopCounters: counters, undoIncrementsOf: entries, getExactTotal: billing.measure(1_000, bytes) };
  const files = { getTopCounters: ["list", "top"], undoIncrementsOf: ["account"], getExactTotal: ["read", "read"] };
  for (const [name, perThousand] of Object.entries(units)) {
    expect(readFileSync("docs/api.md", "utf8")).toMatch(new RegExp(`^- ${perThousand} per 1,000 .*\`${name}\``, "m"));
    for (const [index, file] of files[name as keyof typeof files].entries()) {
      const text = readFileSync(`${index === 0 ? "admin/src" : "client/src/web"}/${file}.ts`, "utf8");
      expect(text.replace(/\s+\*\s+/g, " ")).toContain(`${perThousand} read units per 1,000`);
    }
  }
});

describe("prices of nam5", () => {
  const { read: reading, write, delete: deleting, invocation, task } = PRICES.nam5;
  const perMillion = (price: number) => `$${(price * 1e6).toFixed(2)} per million`;
  const per100k = (price: number) => `$${(price * 1e5).toFixed(2)} per 100,000`;

  test("in docs/security.md", () => {
    const text = read("docs/security.md");
    expect(text).toContain(`${perMillion(reading)} reads`);
    expect(text).toContain(`${perMillion(write)} writes`);
    expect(text).toContain(`${perMillion(deleting)} deletes`);
    expect(text).toContain(`${perMillion(invocation)} invocations`);
    expect(text).toContain(`${perMillion(task)} tasks`);
  });

  test("in PREINSTALL.md", () => {
    const text = readFileSync("PREINSTALL.md", "utf8");
    for (const price of [reading, write, deleting]) expect(text).toContain(per100k(price));
    expect(text).toContain(`$${(invocation * 1e6).toFixed(2)} per million`);
  });
});

describe("the README's comparison", () => {
  const readme = readFileSync("README.md", "utf8");
  const costs = readFileSync("docs/costs.md", "utf8");
  const dollars = (price: number) => `$${(price * 1e6).toFixed(2)}`;
  const { read: reading, write } = PRICES.nam5;

  test("has the prices of a write, of an entry and of the dearest rate", () => {
    const [, table = ""] = costs.split(/^.*costs:rates.*$/m);
    const rates = [...table.matchAll(/^\| +[\d.,]+ \|.*$/gm)];
    const priceOf = (rate: string, column: number) =>
      rates
        .find(([row]) => row.startsWith(`| ${rate.padStart(12)} |`))?.[0]
        .split("|")
        [column]?.trim() ?? "";
    const [atOne, later, atHundred] = [priceOf("1", 7), priceOf("1", 9), priceOf("100", 7)];
    const all = rates.map(([row]) => Number(row.split("|")[7]?.replace("$", "")));
    expect(all.length).toBeGreaterThan(5);
    expect(`$${Math.max(...all).toFixed(2)}`).toBe(atOne);
    expect(readme).toContain(
      `| ${dollars(write)} quiet; ${atOne} at one a second, ${later} with a large total; ${atHundred} at 100 a second; likes ${dollars(write + 2 * reading)} more |`,
    );
    expect(readme).toMatch(new RegExp(`^\\| \`increment\\(1\\)\` on a document +\\| \\${dollars(write)} `, "m"));
  });

  test("has the lateness of docs/performance.md", () => {
    const rows = [
      ...readFileSync("docs/performance.md", "utf8").matchAll(/^\| +(0\.5|1|3|10) \| +\d+ \| +(\d+) \/ /gm),
    ];
    expect(rows.length).toBe(4);
    const seconds = rows.map(([, , mean]) => Number(mean) / 1_000);
    expect(readme.replace(/\s+/g, " ")).toContain(
      `${Math.min(...seconds).toFixed(1)} to ${Math.max(...seconds).toFixed(1)} s late on average`,
    );
  });
});

test("docs/guide/lists.md adds up what docs/costs.md says of a calm counter, of a like's entry and of a mirror's write", () => {
  const costs = readFileSync("docs/costs.md", "utf8");
  const dollars = (pattern: RegExp) => Number(pattern.exec(costs)?.[1]);
  const write = PRICES.nam5.write * 1e6;
  const direct = dollars(/^\| +0\.01 \|.*\| +\$([\d.]+) \| +\$[\d.]+ \| +\$[\d.]+ \|$/m);
  const inShards = dollars(/^\| +0\.01 \|.*\| +\$([\d.]+) \| +\$[\d.]+ \|$/m);
  const entry = dollars(/^\| an increment with `once`.*\$([\d.]+) \|$/m) - write;
  const text = read("docs/guide/lists.md");
  for (const [way, cost] of [
    ["`MIRRORS`", inShards + write + entry],
    ["`getCounters`", direct + entry],
    ["`getTopCounters`", direct + entry],
  ] as const)
    expect(text).toMatch(new RegExp(`${way}[^\n]*\\$${cost.toFixed(2)} \\|`));
  expect(text).toContain(`$${inShards} instead of $${direct.toFixed(2)} per million`);
});

test("CONTRIBUTING.md has every script of package.json, and no other", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
  const documented = [...readFileSync("CONTRIBUTING.md", "utf8").matchAll(/^\| `npm (?:run )?([\w:]+)/gm)];
  expect(documented.map(([, name = ""]) => name).sort()).toEqual(Object.keys(scripts).sort());
});

test("docs/dependencies.md names every direct dependency", () => {
  const text = readFileSync("docs/dependencies.md", "utf8");
  for (const file of ["package.json", "client/package.json", "functions/package.json", "site/package.json"]) {
    const { dependencies, devDependencies, peerDependencies } = JSON.parse(readFileSync(file, "utf8"));
    const names = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });
    for (const name of names) expect(text, `${file}: ${name}`).toContain(`\`${name}\``);
  }
});

test("docs/architecture.md has the phases as functions/src/counter/phase.ts draws them", () => {
  const picture = (file: string) => {
    const lines = readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.replace(/^ \*/, "").trim());
    const last = lines.findIndex((line) => line.includes("after the cool-down"));
    return lines.slice(
      lines.findIndex((line) => line.includes("2 writes an interval")),
      last + 1,
    );
  };
  expect(picture("functions/src/counter/phase.ts").length).toBe(15);
  expect(picture("docs/architecture.md")).toEqual(picture("functions/src/counter/phase.ts"));
});
