/** The command line as far as it needs no database: help, wrong usage, an estimate. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runCommand } from "../testing/runCommand.ts";

beforeAll(() => {
  vi.stubEnv("FIRESTORE_EMULATOR_HOST", undefined);
  vi.stubEnv("GCLOUD_PROJECT", "demo-shop");
});
afterAll(() => vi.unstubAllEnvs());

test.each<[string[], string]>([
  [[], "Usage:"],
  [["frobnicate"], "frobnicate"],
  [["inspect"], "missing required argument"],
  [["inspect", "a", "b"], "too many arguments"],
  [["inspect", "a/b"], "counter/invalid-id"],
  [["inspect", ""], "counter/invalid-id"],
  [["delete", "a", "", "--yes"], "counter/invalid-id"],
  [["inspect", "a", "--emulator", "likes:post42"], "host:port"],
  [["top", "g", "--limit", "0"], "whole number"],
  [["top", "likes:acme"], 'group is "likes:acme"; pass'],
  [["reset", "a", "lots", "--yes"], "Pass a number"],
  [["reset", "a", "", "--yes"], "Pass a number"],
  [["delete", "--yes"], "--group"],
  [["delete", "--group", "", "--yes"], "--ungrouped"],
  [["delete", "--group", "likes:acme", "--yes"], 'group is "likes:acme"; pass'],
  [["exchange", "a"], "--regions"],
  [["reconcile", "--group", "likes", "--from", "posts", "--yes"], "{name}"],
  [["reconcile", "a", "--from", "posts/x", "--yes"], "counter/invalid-source"],
  [["reconcile", "a", "--keep", "--yes"], "--from"],
  [["reconcile", "a", "--entries", "--every", "1h", "--yes"], "--keep"],
  [["reconcile", "a", "--entries", "--keep", "--dry-run"], "--dry-run"],
  [["estimate"], "--per-second"],
  [["estimate", "--per-second", "9", "--peak", "1"], "--peak"],
  [["estimate", "--per-second", "9", "--regions", "2", "--compare"], "--regions"],
  [["estimate", "--pages", "9"], "--views"],
  [["estimate", "--likes", "9", "--per-second", "1"], "--pages"],
  [["estimate", "--pages", "9", "--views", "9", "--per-day", "1"], "--per-day"],
])("wrong usage: %j exits with 2 before any I/O, and prints to stderr only", async (args, advice) => {
  const { exitCode, stdout, stderr } = await runCommand(...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toContain(advice);
  expect(stderr).not.toContain("    at ");
});

test.each([
  ["inspect", "a", "--project", ""],
  ["inspect", "a", "--database", ""],
  ["inspect", "a", "--collection", ""],
  ["reset", "a", "0", "--yes", "--project="],
  ["delete", "--group", "likes", "--yes", "--after", ""],
  ["reconcile", "a", "--yes", "--from", ""],
  ["reconcile", "a", "--yes", "--from", "posts", "--sum", ""],
  ["reconcile", "a", "--yes", "--from", "posts", "--where", ""],
  ["migrate", "--yes", "--map", "pages/{page}.visits=views:{page}", "--map", ""],
])("an option that an unset variable has left empty is wrong usage: %s", async (...args) => {
  const { exitCode, stdout, stderr } = await runCommand(...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(/^error: --[a-z]+ is empty; pass a value, or leave it out/);
});

test("without an emulator one line says what to do; --verbose adds the stack", async () => {
  const { exitCode, stderr } = await runCommand("inspect", "a", "--emulator", "127.0.0.1:1");
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/^error: .*firebase emulators:start.*\n$/);
  const verbose = await runCommand("inspect", "a", "--emulator", "127.0.0.1:1", "--verbose");
  expect(verbose.stderr).toContain("    at ");
});

test("help has examples, for every command", async () => {
  const { stdout } = await runCommand("--help");
  const commands = [...stdout.matchAll(/^ {2}([a-z]+) .*(?:\[|<)/gm)].map(([, name = ""]) => name);
  const all =
    "init upgrade remove inspect watch doctor top reconcile reset fold publish exchange delete migrate adopt estimate";
  expect(commands.join(" ")).toBe(all);
  for (const name of commands) {
    const { exitCode, stdout: help } = await runCommand(name, "--help");
    expect(exitCode).toBe(0);
    expect(help).toContain(`Examples:\n  npx firestore-tally ${name} `);
  }
});

describe("estimate --edition enterprise", () => {
  test("counts units, at the prices of us-central1", async () => {
    const { stdout } = await runCommand("estimate", "--per-second", "100", "--edition", "enterprise");
    expect(stdout).toMatch(/^ +per month +US\$ in us-central1$/m);
    expect(stdout).toMatch(/^increments, in shards +[\d,]+ write units +\$[\d.]+$/m);
    expect(stdout).toMatch(/^\$0\.\d\d per million increments, without/m);
  });

  test("refuses a location whose prices are not known, and says which is", async () => {
    const { exitCode, stderr } = await runCommand(
      ...["estimate", "--per-second", "1", "--edition", "enterprise", "--region", "nam5"],
    );
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /--region nam5: .*real-time units alone is known \(\$0\.60 per million\).*--region regional/,
    );
  });
});

describe("estimate", () => {
  test("adds functions' time, and deducts the free quota", async () => {
    const { stdout } = await runCommand("estimate", "--per-day", "1000000", "--json");
    const { dollars, bill } = JSON.parse(stdout);
    expect(bill.listPrices).toBe(dollars);
    expect(bill.dollars).toBeCloseTo(bill.listPrices + bill.cpuAndMemory - bill.freeQuota, 9);
    const printed = await runCommand("estimate", "--per-day", "1000000");
    expect(printed.stdout).toContain(`$${bill.dollars.toFixed(2)}\n`);
    expect(printed.stdout).toMatch(/^CPU and memory of functions +\$[\d.]+$/m);
    expect(printed.stdout).toMatch(/^free quota +-\$[\d.]+$/m);
  });

  test("of a small counter costs nothing", async () => {
    const { stdout } = await runCommand("estimate", "--per-day", "100");
    expect(stdout).toMatch(/^a month of 30 days +\$0\.00$/m);
  });
});

describe("estimate --compare", () => {
  test("adds fixed shards and Redis, and says which design cannot take the peak", async () => {
    const { exitCode, stdout } = await runCommand("estimate", "--per-second", "20", "--peak", "100", "--compare");
    expect(exitCode).toBe(0);
    const noteOf = (name: string) => new RegExp(`^${name} +\\$[\\d,.]+(.*)$`, "m").exec(stdout)?.[1]?.trim();
    for (const name of ["Tally", "100 fixed shards", "Redis"]) expect(noteOf(name), name).toBe("");
    expect(noteOf("10 fixed shards")).toBe("limit 10/s per counter, 100/s needed");
  });

  test("has them in JSON, too", async () => {
    const { stdout } = await runCommand("estimate", "--per-second", "20", "--compare", "--json");
    expect(Object.keys(JSON.parse(stdout).compared)).toEqual(["standard"]);
    expect(JSON.parse(stdout).compared.standard.map(({ name }: { name: string }) => name)).toContain("Redis");
  });

  test("shows both editions where their prices are known", async () => {
    const regional = await runCommand("estimate", "--per-second", "20", "--compare", "--region", "regional");
    expect(regional.stdout).toMatch(/^a month, as billed +standard +enterprise$/m);
    expect(regional.stdout).toMatch(/^Tally +\$[\d.]+ +\$[\d.]+$/m);
    const nam5 = await runCommand("estimate", "--per-second", "20", "--compare");
    expect(nam5.stdout.replace(/\s+/g, " ")).toContain("the price of real-time units alone is known");
  });
});
