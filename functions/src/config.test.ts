import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { CounterError } from "../../core/src/index.ts";
import { DRIFT_EVENT } from "./alarm.ts";
import { defaults } from "./config.fixture.ts";
import { type Config, config, params, validConfig } from "./config.ts";
import { parseCounted } from "./counted.ts";
import { parseMirrors } from "./mirror.ts";

const text = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
const manifest = parse(text("../../extension.yaml"));
const resource = (name: string) => manifest.resources.find((one: { name: string }) => one.name === name).properties;

afterEach(() => vi.unstubAllEnvs());

test("a deployment that keeps every default is valid, and what the tests take for it", () => {
  for (const { name, options } of Object.values(params)) vi.stubEnv(name, String(options.default));
  expect(config()).toEqual(defaults);
});

describe("each parameter is refused outside its range", () => {
  type Range = [field: keyof Config, parameter: string, from: number, to: number, unit?: number, whole?: boolean];
  test.each<Range>([
    ["minShards", "MIN_SHARDS", 1, 10_000, 1, true],
    ["maxShards", "MAX_SHARDS", 3, 10_000, 1, true],
    ["writesPerShard", "WRITES_PER_SHARD", 0.01, 1_000],
    ["shrinkCooldown", "SHRINK_COOLDOWN_SECONDS", 1, 86_400, 1_000],
    ["minInterval", "MIN_INTERVAL_SECONDS", 1, 3_600, 1_000],
    ["maxInterval", "MAX_INTERVAL_SECONDS", 2, 3_600, 1_000],
    ["precision", "PRECISION", 0, 1],
    ["budget", "BUDGET", 0.001, 100],
    ["historyRetention", "HISTORY_DAYS", 0, 3_650, 86_400_000, true],
  ])("%s: %s is from %d to %d", (field, parameter, from, to, unit = 1, whole = false) => {
    const lower = field === "maxShards" ? { minShards: 3 } : field === "maxInterval" ? { minInterval: 2_000 } : {};
    const widest = { ...defaults, maxShards: 10_000, maxInterval: 3_600_000, ...lower };
    const having = (value: number) => ({ ...widest, [field]: value * unit });

    for (const value of [from, to]) expect(validConfig(having(value))).toEqual(having(value));
    const wrong = [from - 0.0005, to + 0.5, Number.NaN, Number.POSITIVE_INFINITY, -1, ...(whole ? [from + 0.5] : [])];
    for (const value of wrong) {
      const refused = expect(() => validConfig(having(value)));
      refused.toThrow(CounterError);
      refused.toThrow(expect.objectContaining({ code: "counter/invalid-config" }));
      refused.toThrow(
        `${parameter} is ${value}; set it to a ${whole ? "whole number" : "number"} from ${from} to ${to}`,
      );
    }
  });

  test("and a collection that cannot be one is refused too", () => {
    for (const collection of ["a/b", "", "..", "__x__"]) {
      expect(() => validConfig({ ...defaults, collection })).toThrow(
        `counter/invalid-config: COLLECTION is "${collection}"; set it to the id of one collection`,
      );
    }
  });

  test("and nothing below COLLECTION is counted or a mirror, which would never come to rest", () => {
    const below = { ...defaults, collection: "tallies" };
    expect(() => validConfig({ ...below, counted: parseCounted("tallies/{counter}/entries") })).toThrow(
      'counter/invalid-config: COUNTED_COLLECTION: "tallies/{counter}/entries" is below COLLECTION',
    );
    expect(() => validConfig({ ...below, counted: parseCounted("tallies") })).toThrow(CounterError);
    expect(() => validConfig({ ...below, mirrors: parseMirrors("a=x/{key}.a,b=tallies/{key}.b") })).toThrow(
      'counter/invalid-config: MIRRORS: "tallies/{key}" is below COLLECTION',
    );
    const fine = { ...defaults, counted: parseCounted("a/counters/b"), mirrors: parseMirrors("a=b/counters.a") };
    expect(validConfig(fine)).toEqual(fine);
  });
});

describe("the extension and the function kit are the same", () => {
  type Param = { param: string; label: string; description: string; default: string; validationRegex?: string };
  // The extension's alone: only a manifest must name the region of the trigger.
  const declared: Param[] = manifest.params.filter(({ param }: Param) => param !== "DATABASE_REGION");

  test("the same parameters, in name, label, description and default", () => {
    const told = declared.map(({ param, label, description, default: value }) => [param, label, description, value]);
    const defined = Object.values(params).map(({ name, options }) => [
      name,
      options.label,
      options.description,
      String(options.default),
    ]);
    expect(defined).toEqual(told);
    expect(manifest.params).toHaveLength(declared.length + 1);
  });

  test("the same check where decimals are entered, and every default passes its own", () => {
    for (const { options, name } of Object.values(params)) {
      const { param: _, label: __, description: ___, ...rest } = declared.find(({ param }) => param === name) as Param;
      if (options.input && "text" in options.input) expect(rest).toMatchObject(options.input.text);
      expect(String(options.default)).toMatch(new RegExp(rest.validationRegex ?? ""));
    }
  });

  test("the event that is published is declared", () => {
    expect(manifest.events.map(({ type }: { type: string }) => type)).toEqual([DRIFT_EVENT]);
  });

  test("the manifest's check accepts what is a valid path, and a valid list of mirrors", () => {
    const checkOf = (name: string) => new RegExp(declared.find(({ param }) => param === name)?.validationRegex ?? "^$");
    const paths = ["posts", "posts/{post}/comments", "a/{x}/b/{y}/c"];
    const lists = ["", "likes=posts/{key}.likes", "likes=posts/{key}.likes, views=a/{key}.b.c,posts=site/home.posts"];
    for (const path of paths) expect(parseCounted(path)?.join("/")).toBe(path);
    for (const path of paths) expect(path).toMatch(checkOf("COUNTED_COLLECTION"));
    for (const list of lists) expect(parseMirrors(list)).toHaveLength(list ? list.split(",").length : 0);
    for (const list of lists) expect(list).toMatch(checkOf("MIRRORS"));
    for (const path of ["posts/{post}", "/posts", "posts/"]) expect(path).not.toMatch(checkOf("COUNTED_COLLECTION"));
    for (const list of ["likes", "likes=posts", "a=b.c,"]) expect(list).not.toMatch(checkOf("MIRRORS"));
  });

  const index = text("./index.ts");

  test("the same functions", () => {
    const exported = [...index.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => name);
    expect(exported).toEqual(manifest.resources.map(({ name }: { name: string }) => name));
  });

  test.each([
    ["wake", "onDocumentCreated", "created"],
    ["wakezero", "onDocumentUpdated", "updated"],
    ["wakebase", "onDocumentUpdated", "updated"],
  ])("the same trigger and retries for a shard: %s", (name, trigger, event) => {
    const [, path] =
      new RegExp(`const ${name} = ${trigger}\\(\\s*{ document: expr\`(.+)\`, \\.\\.\\.retried }`).exec(index) ?? [];
    const { eventType, eventFilters, retryPolicy } = resource(name).eventTrigger;
    expect(eventType).toBe(`google.cloud.firestore.document.v1.${event}`);
    expect(eventFilters).toEqual([
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the manifest's
      { attribute: "database", value: "${param:DATABASE_ID}" },
      {
        attribute: "document",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's
        value: path?.replace("${params.collection}", "${param:COLLECTION}"),
        operator: "match-path-pattern",
      },
    ]);
    expect([/retried = \{.*retry: true/.test(index), retryPolicy]).toEqual([true, "RETRY_POLICY_RETRY"]);
  });

  test("the same triggers for documents that are counted: creations and deletions, with retries", () => {
    const [, path] = /const counted = \{ document: expr`(.+)`, \.\.\.retried/.exec(index) ?? [];
    for (const [name, event] of [
      ["created", "onDocumentCreated"],
      ["deleted", "onDocumentDeleted"],
    ] as const) {
      const { eventType, eventFilters, retryPolicy } = resource(name).eventTrigger;
      expect(index).toContain(`export const ${name} = ${event}(counted, `);
      expect(eventType).toBe(`google.cloud.firestore.document.v1.${name}`);
      expect(eventFilters).toEqual([
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the manifest's
        { attribute: "database", value: "${param:DATABASE_ID}" },
        {
          attribute: "document",
          // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's
          value: path?.replace("${params.countedCollection}", "${param:COUNTED_COLLECTION}"),
          operator: "match-path-pattern",
        },
      ]);
      expect(retryPolicy).toBe("RETRY_POLICY_RETRY");
    }
  });

  test("the same retries of a task, the same schedule and time limit of a sweep", () => {
    const [, literal = ""] = /retryConfig = \{(.+)\}/.exec(index) ?? [];
    const retryConfig = Object.fromEntries(
      [...literal.matchAll(/(\w+): (\d+)/g)].map(([, key, n]) => [key, Number(n)]),
    );
    expect(resource("aggregate").taskQueueTrigger.retryConfig).toEqual(retryConfig);
    expect(resource("sweep").scheduleTrigger.schedule).toBe(/schedule = "(.+)"/.exec(index)?.[1]);
    expect(resource("sweep").timeout).toBe(`${/timeoutSeconds: (\d+)/.exec(index)?.[1]}s`);
  });
});

test("fields that grow with every write are exempt from indexes; those that are queried are not", () => {
  const { fieldOverrides } = JSON.parse(text("../../firestore.indexes.json"));
  const exempt = fieldOverrides
    .filter(({ indexes }: { indexes: unknown[] }) => indexes.length === 0)
    .map(({ collectionGroup, fieldPath }: Record<string, string>) => `${collectionGroup}.${fieldPath}`);
  expect(exempt).toContain("counters.source");
  const growing = ["shards.count", "shards.writes", "shards.at", "shards.marks", "counters.asOf", "counters.writes"];
  const more = ["counters.publishes", "history.points", "history.expireAt", "receipts.expireAt"];
  expect(exempt).toEqual(expect.arrayContaining([...growing, ...more]));
  for (const queried of ["total", "rate", "group", "unsettled", "reconcileAt"])
    expect(exempt).not.toContain(`counters.${queried}`);
});
