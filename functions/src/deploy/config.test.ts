import { afterEach, describe, expect, test, vi } from "vitest";
import { CounterError, MARK_LIFETIME_SECONDS, parseCountedCollection, parseMirrors } from "../../../core/src/index.ts";
import { MAX_TASK_DELAY } from "../counter/cause.ts";
import { deployedConfig, params } from "../deploy/parameters.ts";
import type { Config } from "../features/config.ts";
import { isIn } from "../features/groups.ts";
import { validConfig } from "./config.ts";
import { DEFAULT_CONFIG as defaults } from "./defaultConfig.ts";
import { DEFAULT_PARAMETERS, parseConfig } from "./parseConfig.ts";

afterEach(() => vi.unstubAllEnvs());

test("a deployment with every default is valid, and equals the defaults of the tests", () => {
  for (const { name, options } of Object.values(params)) vi.stubEnv(name, String(options.default));
  expect(deployedConfig()).toEqual(defaults);
});

describe("each parameter is refused outside its range", () => {
  type Range = [field: keyof Config, parameter: string, from: number, to: number, unit?: number, whole?: boolean];
  test.each<Range>([
    ["minShards", "MIN_SHARDS", 1, 10_000, 1, true],
    ["maxShards", "MAX_SHARDS", 3, 10_000, 1, true],
    ["writesPerShard", "WRITES_PER_SHARD", 0.01, 1_000],
    ["shrinkCooldown", "SHRINK_COOLDOWN_SECONDS", MARK_LIFETIME_SECONDS, 86_400, 1_000],
    ["minInterval", "MIN_INTERVAL_SECONDS", 1, MAX_TASK_DELAY / 1_000, 1_000],
    ["maxInterval", "MAX_INTERVAL_SECONDS", 2, MAX_TASK_DELAY / 1_000, 1_000],
    ["precision", "PRECISION", 0, 1],
    ["historyRetention", "HISTORY_DAYS", 1, 3_650, 86_400_000, true],
  ])("%s: %s is from %d to %d", (field, parameter, from, to, unit = 1, whole = false) => {
    const lower = field === "maxShards" ? { minShards: 3 } : field === "maxInterval" ? { minInterval: 2_000 } : {};
    const widest = { ...defaults, maxShards: 10_000, maxInterval: MAX_TASK_DELAY, ...lower };
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

  test("in the emulator the cool-down may be a second", () => {
    const quick = { ...defaults, shrinkCooldown: 1_000 };
    expect(validConfig(quick, true)).toEqual(quick);
    expect(() => validConfig(quick)).toThrow("SHRINK_COOLDOWN_SECONDS is 1; set it to a number from 120 to 86400");
    expect(() => validConfig({ ...quick, shrinkCooldown: 0 }, true)).toThrow(CounterError);
  });

  test("and so is a COLLECTION that is no collection id", () => {
    for (const collection of ["a/b", "", "..", "__x__"]) {
      expect(() => validConfig({ ...defaults, collection })).toThrow(
        `counter/invalid-config: COLLECTION is "${collection}"; set it to the id of one collection`,
      );
    }
  });

  test("and so is a counted collection or a mirror below COLLECTION", () => {
    const below = { ...defaults, collection: "tallies" };
    expect(() => validConfig({ ...below, counted: parseCountedCollection("tallies/{counter}/tallyEntries") })).toThrow(
      'counter/invalid-config: COUNTED_COLLECTION: "tallies/{counter}/tallyEntries" is below COLLECTION',
    );
    expect(() => validConfig({ ...below, counted: parseCountedCollection("tallies") })).toThrow(CounterError);
    expect(() =>
      validConfig({ ...below, mirrors: parseMirrors("a=x/{name}.a,b=tallies/{name}.b", "MIRRORS") }),
    ).toThrow('counter/invalid-config: MIRRORS: "tallies/{name}" is below COLLECTION');
    const bridged = parseMirrors("likes=posts/{name}.likes", "BRIDGE");
    const twice = [...parseMirrors("stars=posts/{id}.likes", "MIRRORS"), ...bridged];
    expect(() => validConfig({ ...below, mirrors: twice })).toThrow(
      'MIRRORS and BRIDGE: "likes:{name}": shares its field',
    );
    const fine = {
      ...defaults,
      counted: parseCountedCollection("a/counters/b"),
      mirrors: parseMirrors("a=b/counters.a", "MIRRORS"),
    };
    expect(validConfig(fine)).toEqual(fine);
  });
});

test.each<[name: "WINDOWS" | "HISTORY", field: "windowGroups" | "historyGroups"]>([
  ["WINDOWS", "windowGroups"],
  ["HISTORY", "historyGroups"],
])("%s names groups, or * for all counters", (name, field) => {
  const parsed = (value: string) => parseConfig({ ...DEFAULT_PARAMETERS, [name]: value })[field];
  const has = (value: string) => ["likes:42", "views:home", "home", ":x"].map((id) => isIn(parsed(value), id));
  expect([parsed("likes, re-posts"), parsed("*"), parsed("")]).toEqual([["likes", "re-posts"], "all", []]);
  expect(["likes", "*", ""].map(has)).toEqual([[true, false, false, false], Array(4).fill(true), Array(4).fill(false)]);
  for (const wrong of ["likes:*", "*,likes", "a b"])
    expect(() => parsed(wrong)).toThrow(
      new RegExp(`^counter/invalid-config: ${name} is .*; set it to groups such as likes`),
    );
});

test.each(["VISITORS", "ITEMS", "ADOPTED"])("%s refuses true, and says what it accepts", (name) => {
  expect(() => parseConfig({ ...DEFAULT_PARAMETERS, [name]: "true" })).toThrow(
    new RegExp(`^counter/invalid-config: ${name} is .*; set it to `),
  );
});
