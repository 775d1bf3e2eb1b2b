import { afterEach, describe, expect, test, vi } from "vitest";
import { CounterError } from "../../../core/src/index.ts";
import { isIn } from "../shared/groups.ts";
import type { ParameterValues } from "../shared/parameters.ts";
import { deployedConfig } from "./cliParams.ts";
import { DEFAULT_CONFIG } from "./defaultConfig.ts";
import { COUNTING_DEFAULTS, checkParameters, DEFAULT_SETTINGS, PARAMETERS, parseConfig } from "./parameters.ts";

afterEach(() => vi.unstubAllEnvs());

test("a deployment with every default is valid, and equals the defaults of the tests", () => {
  for (const [name, parameter] of Object.entries(PARAMETERS)) vi.stubEnv(name, parameter.default);
  expect(deployedConfig()).toEqual(DEFAULT_CONFIG);
  expect(parseConfig({})).toEqual(DEFAULT_SETTINGS);
});

/** Parses and checks all parameters, of which some have other values than their defaults. */
function parse(values: ParameterValues, isEmulated = false) {
  checkParameters({ ...COUNTING_DEFAULTS, ...values });
  return parseConfig({ ...COUNTING_DEFAULTS, ...values }, isEmulated);
}

describe("each parameter is refused outside its range", () => {
  const ranges = Object.entries(PARAMETERS).flatMap(([name, { range, pattern }]) =>
    range && !name.endsWith("_INSTANCES") ? [[name, ...range, pattern === undefined] as const] : [],
  );

  test.each(ranges)("%s is from %d to %d; whole: %s", (name, from, to, isWhole) => {
    const widest = { MAX_SHARDS: 10_000, MAX_INTERVAL_SECONDS: 3_000 };
    for (const value of [from, to]) expect(() => parse({ ...widest, [name]: value })).not.toThrow();
    const wrong = [from - 0.0005, to + 0.5, Number.NaN, Number.POSITIVE_INFINITY, -1, ...(isWhole ? [from + 0.5] : [])];
    for (const value of wrong) {
      const refused = expect(() => parse({ ...widest, [name]: value }));
      refused.toThrow(CounterError);
      refused.toThrow(expect.objectContaining({ code: "counter/invalid-config" }));
      refused.toThrow(new RegExp(`${name} is ${value}; set it to a ${isWhole ? "whole number" : "number"} from `));
    }
  });

  test.each([
    ["MAX_SHARDS", { MIN_SHARDS: 3, MAX_SHARDS: 2 }, "MAX_SHARDS is 2; set it to a whole number from 3 to 10000"],
    [
      "MAX_INTERVAL_SECONDS",
      { MIN_INTERVAL_SECONDS: 5, MAX_INTERVAL_SECONDS: 4 },
      "MAX_INTERVAL_SECONDS is 4; set it to a whole number from 5 to 3000",
    ],
  ])("%s is not below its lower bound", (_name, values, message) => {
    expect(() => parse(values)).toThrow(message);
  });

  test("in the emulator the cool-down may be a second", () => {
    const quick = { SHRINK_COOLDOWN_SECONDS: "1" };
    expect(parse(quick, true)).toMatchObject({ shrinkCooldown: 1_000 });
    expect(() => parse(quick)).toThrow("SHRINK_COOLDOWN_SECONDS is 1; set it to a whole number from 120 to 86400");
    expect(() => parse({ SHRINK_COOLDOWN_SECONDS: "0" }, true)).toThrow(CounterError);
  });
});

test("a COLLECTION is refused that is no collection id", () => {
  for (const collection of ["a/b", "", "..", "__x__"])
    expect(() => parse({ COLLECTION: collection })).toThrow(
      `counter/invalid-config: COLLECTION is "${collection}"; set it to the id of one collection`,
    );
});

test("and so is a counted collection or a mirror below COLLECTION, and a field of two mirrors", () => {
  const below = { COLLECTION: "tallies" };
  expect(() => parse({ ...below, COUNTED_COLLECTION: "tallies/{counter}/tallyEntries" })).toThrow(
    'counter/invalid-config: COUNTED_COLLECTION: "tallies/{counter}/tallyEntries" is below COLLECTION',
  );
  expect(() => parse({ ...below, COUNTED_COLLECTION: "tallies" })).toThrow(CounterError);
  expect(() => parse({ ...below, MIRRORS: "a=x/{name}.a,b=tallies/{name}.b" })).toThrow(
    'counter/invalid-config: MIRRORS: "tallies/{name}" is below COLLECTION',
  );
  expect(() => parse({ ...below, BRIDGE: "b=tallies/{name}.b" })).toThrow(
    'BRIDGE: "tallies/{name}" is below COLLECTION',
  );
  const twice = { MIRRORS: "stars=posts/{id}.likes", BRIDGE: "likes=posts/{name}.likes" };
  expect(() => parse(twice)).toThrow('MIRRORS and BRIDGE: "likes:{name}": shares its field');
  expect(parse({ COUNTED_COLLECTION: "a/{counters}/b", MIRRORS: "a=b/counters.a" })).toMatchObject({
    collections: ["a", "{counters}", "b"],
    mirrors: [{ document: "b/counters" }],
  });
});

test.each<[name: string, feature: "windows" | "history"]>([
  ["WINDOWS", "windows"],
  ["HISTORY", "history"],
])("%s names groups, or * for all counters", (name, feature) => {
  const parsed = (value: string) => parse({ [name]: value })[feature].groups;
  const has = (value: string) => ["likes:42", "views:home", "home", ":x"].map((id) => isIn(parsed(value), id));
  expect([parsed("likes, re-posts"), parsed("*"), parsed("")]).toEqual([["likes", "re-posts"], "all", []]);
  expect(["likes", "*", ""].map(has)).toEqual([[true, false, false, false], Array(4).fill(true), Array(4).fill(false)]);
  for (const wrong of ["likes:*", "*,likes", "a b"])
    expect(() => parsed(wrong)).toThrow(
      new RegExp(`^counter/invalid-config: ${name} is .*; set it to groups such as likes`),
    );
});

const choices = Object.entries(PARAMETERS).flatMap(([name, parameter]) => (parameter.choices ? [name] : []));

test.each(choices)("%s refuses true, and says what it accepts", (name) => {
  expect(() => parse({ [name]: "true" })).toThrow(new RegExp(`^counter/invalid-config: ${name} is .*; set it to `));
});
