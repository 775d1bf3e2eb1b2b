/** The command line, run as a user would: the built file in a process of its own, on the emulator. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Firestore } from "@google-cloud/firestore";
import { status } from "@grpc/grpc-js";
import { counter, incrementCounter } from "firestore-tally/admin";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { CLI, cliProject, startProgram } from "../../testkit/cli.ts";
import { admin } from "../../testkit/clients.ts";
import { Refused, startProxy } from "../../testkit/grpcProxy.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { delayingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";

const PROJECT = "demo-shop";
const { db, run, json, start: startCommand, counter: make, shards, left } = cliProject(PROJECT);
const host = process.env.FIRESTORE_EMULATOR_HOST as string;

const ESCAPE = "\u001b";

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0);

beforeEach(async () => {
  await fetch(`http://${host}/emulator/v1/projects/${PROJECT}/databases/(default)/documents`, { method: "DELETE" });
});

afterAll(async () => await db.terminate());

describe("inspect", () => {
  test("shows the published total, the exact sum, their difference and the cost", async () => {
    await make("likes:post42", [5, 9, 1, 1], { shardCount: 2, rate: 1.5, entries: 7 });
    await db.doc("counters/likes:post42/shards/0").update({ count: 8, writes: 8 });
    await db.doc("counters/likes:post42/shards/base").set({ count: 4, writes: 1 });
    await db.doc("counters/likes:post42/receipts/x").set({});
    await db.doc("counters/likes:post42/shards/9").set({ count: "many" });
    expect(await json("inspect", "likes:post42")).toMatchObject({
      project: PROJECT,
      emulator: host,
      id: "likes:post42",
      published: { total: 16, shardCount: 2, rate: 1.5, phase: "scattered" },
      exact: { total: 23 },
      difference: 7,
      shards: {
        documents: 6,
        surplus: 2,
        busiest: [{ id: "1" }, { id: "0", count: 8 }, { id: "2" }, { id: "3" }, { id: "base" }],
        malformed: ["9"],
      },
      entries: 7,
      source: null,
      latestCorrection: null,
      reads: 9,
    });
    const { stdout, exitCode } = await run("inspect", "likes:post42");
    expect(exitCode).toBe(0);
    for (const said of ["16", "now, +7", "6 documents, 2 of them", "shard 9", "9 reads", `emulator at ${host}`]) {
      expect(stdout).toContain(said);
    }
    expect(stdout).not.toContain(ESCAPE);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test("shows the total that the functions have published", async () => {
    const id = "cli:published";
    await incrementCounter(counter(admin, id), 3);
    await until(async () => (await readPublished(id))?.total === 3, "the total");
    const { stdout } = await startProgram(process.execPath, [CLI, "inspect", id, "--json"]).ended;
    expect(JSON.parse(stdout)).toMatchObject({
      published: { total: 3 },
      exact: { total: 3 },
      difference: 0,
      warnings: [],
    });
  });

  test("fails for a counter that does not exist", async () => {
    const { exitCode, stdout, stderr } = await run("inspect", "nope");
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^error: "nope" has no total and no shards in the emulator.*\n$/);
  });
});

test("top lists a group by total or rate, the largest first", async () => {
  await make("views:a", [5], { rate: 3 });
  await make("views:b", [7], { rate: 2 });
  await make("views:c", [1], { rate: 9 });
  await make("other:d", [99]);
  const ids = ({ counters }: { counters: { id: string }[] }) => counters.map(({ id }) => id);
  expect(ids(await json("top", "views"))).toEqual(["views:b", "views:a", "views:c"]);
  expect(ids(await json("top", "views", "--order-by", "rate", "--limit", "2"))).toEqual(["views:c", "views:a"]);
  expect((await run("top", "views")).stdout).toMatch(/1 {2}views:b +7 +2 .*\n2 {2}views:a/);
  expect((await run("top", "empty")).stdout).toContain("No counter");
});

test("control characters of an id are escaped, except in JSON", async () => {
  const id = "views:\u001b[2J\u009b\u202e";
  await make(id, [5]);
  for (const args of [
    ["top", "views"],
    ["inspect", id],
    ["reset", id, "1", "--yes"],
    ["delete", id, "--yes"],
  ]) {
    const { exitCode, stdout, stderr } = await run(...args);
    expect(exitCode).toBe(0);
    for (const control of [ESCAPE, "\u009b", "\u202e"]) expect(stdout + stderr).not.toContain(control);
    if (args[0] !== "delete") expect(stdout).toContain("views:\\u{1b}[2J\\u{9b}\\u{202e}");
    if (args[0] === "top") expect((await json(...args)).counters[0].id).toBe(id);
  }
});

describe("reset", () => {
  test("prints the total before and after", async () => {
    await make("visits:today", [5, 6]);
    expect(await json("reset", "visits:today", "100", "--yes")).toMatchObject({ before: 11, after: 100 });
    expect(sum(await shards("visits:today"))).toBe(100);
    expect(await json("reset", "--yes", "visits:today", "--", "-5")).toMatchObject({ before: 100, after: -5 });
  });

  test("succeeds even if the new total cannot be read", async () => {
    await make("visits:today", [5]);
    let isReset = false;
    const proxy = await startProxy(host, [
      (method) => ({
        request(message) {
          if (isReset && method === "RunAggregationQuery") throw new Refused(status.PERMISSION_DENIED, "no more reads");
          isReset ||= method === "Commit" && (message.as<{ writes?: unknown[] }>().writes ?? []).length > 0;
        },
      }),
    ]);
    const { exitCode, stdout } = await run("reset", "visits:today", "100", "--yes", "--emulator", proxy.address);
    proxy.close();
    expect(exitCode).toBe(0);
    expect(stdout).toContain("visits:today  5 → 100\n");
    expect(stdout).toContain("could not be read afterwards");
    expect(sum(await shards("visits:today"))).toBe(100);
  });

  test("changes nothing without a terminal, unless --yes is passed", async () => {
    await make("visits:today", [5]);
    const { exitCode, stderr } = await run("reset", "visits:today", "0");
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: Reset visits:today from 5 to 0 in the emulator at .*pass --yes\n$/);
    expect(await shards("visits:today")).toEqual({ 0: 5 });
  });
});

describe("a counter of documents", () => {
  beforeEach(async () => {
    const batch = db.batch();
    for (let n = 0; n < 3; n++) batch.create(db.collection("posts/42/comments").doc(), {});
    await batch.commit();
    await make("comments:42", []);
    await db.doc("counters/comments:42").update({ total: 3, countedCollection: "posts/42/comments" });
  });

  test("is compared with their number by inspect", async () => {
    const { exact, difference, warnings, published } = await json("inspect", "comments:42");
    expect({ total: exact.total, difference, warnings }).toEqual({ total: 3, difference: 0, warnings: [] });
    expect(published.countedCollection).toBe("posts/42/comments");
    const { stdout } = await run("inspect", "comments:42");
    expect(stdout).toMatch(/counts +posts\/42\/comments/);
  });

  test("is not reconciled, with any source or none", async () => {
    for (const source of [["--from", "posts/42/comments"], []]) {
      const { exitCode, stderr } = await run("reconcile", "comments:42", ...source, "--yes");
      expect(exitCode).toBe(1);
      expect(stderr).toContain(
        "failed comments:42: counts the documents of posts/42/comments; its total cannot be set\n",
      );
      expect(stderr).not.toContain("Name a source");
    }
    expect(await shards("comments:42")).toEqual({});
  });

  test("is not reset", async () => {
    const { exitCode, stderr } = await run("reset", "comments:42", "0", "--yes");
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: "error: comments:42 counts the documents of posts/42/comments; its total cannot be set\n",
    });
  });
});

describe("exchange", () => {
  const europe = new Firestore({ projectId: PROJECT, databaseId: "cli-eu" });
  afterAll(() => europe.terminate());
  const regions = ["--regions", "us=(default), eu=cli-eu"];

  test("brings counters without writes to a region that was added, and may be repeated", async () => {
    await make("views:a", [1, 2], { shardCount: 2 });
    await make("views:b", [5], { shardCount: 1 });
    const { counters } = await json("exchange", "--group", "views", ...regions);
    expect(counters).toEqual([{ id: "views:a" }, { id: "views:b" }]);
    const brought = await europe.doc("counters/views:a").get();
    expect(brought.data()).toMatchObject({ group: "views", globalTotal: 3, regions: { us: { total: 3 } } });
    await json("exchange", "views:a", ...regions);
    expect((await europe.doc("counters/views:a").get()).updateTime).toEqual(brought.updateTime);
  });

  test("goes on after a counter that a region cannot hold, and tells which", async () => {
    for (const id of ["views:a", "views:b", "views:c"]) await make(id, [1], { shardCount: 1 });
    // A document of a megabyte at most: the total does not fit in.
    await europe.doc("counters/views:b").set({ other: "x".repeat(1_048_400) });
    const { exitCode, stdout, stderr } = await run("exchange", "--group", "views", ...regions, "--json");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("failed views:b: could not be brought to eu");
    expect(stderr).toContain("1 of 3 counters failed");
    expect(JSON.parse(stdout).counters.map(({ id }: { id: string }) => id)).toEqual(["views:a", "views:b", "views:c"]);
    expect((await europe.doc("counters/views:c").get()).get("globalTotal")).toBe(1);
  });

  test("refuses a name by which the counters do not know a region, its own or another's, before anything is brought", async () => {
    await fetch(`http://${host}/emulator/v1/projects/${PROJECT}/databases/cli-eu/documents`, { method: "DELETE" });
    await make("views:a", [1, 2], { shardCount: 2 });
    await db.doc("counters/views:a").update({ "regions.eu": { total: 4, asOf: new Date(), windows: null } });
    await json("exchange", "views:a", ...regions);
    const before = await europe.doc("counters/views:a").get();
    for (const [list, reason] of [
      ["su=(default), eu=cli-eu", "names a region su that the counters know as us"],
      ["us=(default), ue=cli-eu", "names a region ue that the counters know as eu"],
    ] as const) {
      const { exitCode, stderr } = await run("exchange", "views:a", "--regions", list);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(reason);
    }
    expect((await europe.doc("counters/views:a").get()).updateTime).toEqual(before.updateTime);
    await json("exchange", "views:a", "--regions", "us=(default), eu=cli-eu, asia=cli-asia");
  });

  test("needs the regions, and one with the database", async () => {
    expect((await run("exchange", "views:a")).exitCode).toBe(2);
    const { exitCode, stderr } = await run("exchange", "views:a", "--regions", "eu=cli-eu, asia=cli-asia");
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("one of them must have DATABASE_ID");
  });
});

describe("fold", () => {
  test("I5: moves surplus shards into base, and the sum stays", async () => {
    await make("views:a", [1, 2, 3, 4], { shardCount: 2 });
    await make("views:b", [5, 6], { shardCount: 1 });
    const { counters } = await json("fold", "--group", "views", "--quiet-for", "0");
    expect(counters).toEqual([
      { id: "views:a", shards: 4, folded: 2, busy: 0 },
      { id: "views:b", shards: 2, folded: 1, busy: 0 },
    ]);
    expect([await shards("views:a"), await shards("views:b")]).toEqual([
      { 0: 1, 1: 2, base: 7 },
      { 0: 5, base: 6 },
    ]);
  });

  test("leaves recently written shards alone, and counters without a shard count", async () => {
    await make("views:a", [1, 2], { shardCount: 1 });
    await db.doc("counters/views:b/shards/5").set({ count: 5, writes: 1 });
    const { counters } = await json("fold", "views:a", "views:b");
    expect(counters).toEqual([
      { id: "views:a", shards: 2, folded: 0, busy: 1 },
      { id: "views:b", shards: 1, folded: 0, busy: 0 },
    ]);
  });

  test("adds nothing to a base that is no number", async () => {
    await make("views:a", [1, 2], { shardCount: 1 });
    await db.doc("counters/views:a/shards/base").set({ count: Number.NaN });
    const { exitCode, stderr } = await run("fold", "views:a", "--quiet-for", "0");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("failed views:a: the count of shards/base is no number: correct it first\n");
    expect(await shards("views:a")).toEqual({ 0: 1, 1: 2, base: Number.NaN });
  });
});

describe("reconcile", () => {
  test("compares with the entries, writes nothing in a dry run, and then corrects", async () => {
    await make("likes:a", [3], { entries: 5 });
    await make("likes:b", [4], { entries: 4 });
    const dry = await json("reconcile", "--group", "likes", "--entries", "--dry-run");
    expect(dry.counters).toMatchObject([
      { id: "likes:a", expected: 5, found: 3, drift: 2, corrected: false },
      { id: "likes:b", drift: 0, corrected: false },
    ]);
    expect(await shards("likes:a")).toEqual({ 0: 3 });
    const done = await json("reconcile", "--group", "likes", "--entries", "--yes");
    expect(done.counters).toMatchObject([{ id: "likes:a", drift: 2, corrected: true }, { corrected: false }]);
    expect(sum(await shards("likes:a"))).toBe(5);
    expect((await json("inspect", "likes:a")).latestCorrection).toMatchObject({ by: 2, expected: 5, found: 3 });
  });

  test("compares each counter of a group with its own documents, selected and summed", async () => {
    for (const [post, state, score] of [
      ["p1", "public", 3],
      ["p1", "public", 4],
      ["p1", "draft", 9],
      ["p2", "public", 1],
    ]) {
      await db.collection(`posts/${post}/comments`).add({ state, score });
    }
    await make("comments:p1", [0]);
    await make("comments:p2", [0]);
    const source = ["--from", "posts/{key}/comments", "--where", "state == public", "--sum", "score", "--yes"];
    const { counters } = await json("reconcile", "--group", "comments", ...source);
    expect(counters).toMatchObject([
      { expected: 7, corrected: true },
      { expected: 1, corrected: true },
    ]);
  });

  test("stores a source and uses it the next time; only a counter without one fails", async () => {
    await db.collection("posts").add({});
    await make("posts:all", [0]);
    await make("posts:none", [0]);
    await json("reconcile", "posts:all", "--from", "posts", "--keep", "--every", "24h", "--alarm-beyond", "3", "--yes");
    const { source, nextReconcileAt } = await json("inspect", "posts:all");
    expect(source).toEqual({ collection: "posts", everySeconds: 86_400, alarmBeyond: 3 });
    expect(Date.parse(nextReconcileAt)).toBeGreaterThan(Date.now());
    await db.collection("posts").add({});
    const { exitCode, stdout, stderr } = await run("reconcile", "--group", "posts", "--yes", "--json");
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout).counters).toMatchObject([
      { id: "posts:all", drift: 1, corrected: true },
      { id: "posts:none", error: expect.stringContaining("counter/invalid-source") },
    ]);
    expect(stderr).toContain("--entries");
  });

  test.each([
    [["--group", "likes", "--from", "posts"], "{key}"],
    [["a", "--from", "posts/x"], "counter/invalid-source"],
    [["a", "--keep"], "--from"],
    [["a", "--entries", "--every", "1h"], "--keep"],
    [["a", "--entries", "--keep", "--every", "1m"], "5m to 366d"],
    [["a", "--entries", "--keep", "--dry-run"], "--dry-run"],
  ])("rejects %j as wrong usage, before anything is overwritten", async (args, advice) => {
    const { exitCode, stderr } = await run("reconcile", "--yes", ...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(advice);
  });
});

describe("delete", () => {
  test("deletes counters and everything below them, and no others", async () => {
    await make("likes:a", [1, 2], { entries: 3 });
    await make("likes:b", [1]);
    await make("likes:c", [1]);
    const { counters } = await json("delete", "likes:a", "likes:c", "--yes");
    expect(counters).toEqual([
      { id: "likes:a", documents: 6 },
      { id: "likes:c", documents: 2 },
    ]);
    expect(await left()).toEqual(["likes:b"]);
  });

  test("fails for a named counter that has no document at all", async () => {
    await make("likes:a", [1]);
    await db.doc("counters/likes:unpublished/shards/0").set({ shard: "0", count: 1, writes: 1 });
    const { exitCode, stdout, stderr } = await run("delete", "likes:a", "likes:nope", "likes:unpublished", "--yes");
    expect(exitCode).toBe(1);
    expect(stdout).toContain("2 counters deleted, 4 documents.");
    expect(stderr).toContain("failed likes:nope: does not exist\n");
    expect(await left()).toEqual([]);
    expect((await run("delete", "likes:a", "likes:b", "--after", "likes:a", "--yes")).exitCode).toBe(0);
  });

  test("changes nothing without a terminal, unless --yes is passed", async () => {
    await make("likes:a", [1]);
    const { exitCode, stdout, stderr } = await run("delete", "--group", "likes");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain('Delete 1 counter of the group "likes"');
    expect(await left()).toEqual(["likes:a"]);
  });

  test("an interrupted run prints how to resume, and resuming deletes the rest", async () => {
    const ids = Array.from({ length: 80 }, (_, n) => `likes:${n}`).sort();
    await Promise.all(ids.map((id) => make(id, [1, 2])));
    await make("views:other", [1]);
    // Slow enough to be interrupted halfway.
    const proxy = await delayingProxy(host, 25);
    const command = startCommand("delete", "--group", "likes", "--yes", "--json", "--emulator", proxy.address);
    await until(async () => (await left()).length <= 70, "some to be deleted");
    command.process.kill("SIGINT");
    const { exitCode, stdout, stderr } = await command.ended;
    await proxy.close();
    expect(exitCode).toBe(130);
    const { counters, after } = JSON.parse(stdout);
    expect(counters.length).toBeGreaterThan(0);
    expect(counters.length).toBeLessThan(ids.length);
    expect(after).toBe(ids[counters.length - 1]);
    // Counters up to `after` are done.
    expect(await left()).not.toContain(after);
    const [, typed = ""] = /^ {2}npx firestore-tally (.+)$/m.exec(stderr) ?? [];
    expect(typed).toContain(`--after ${after}`);
    const rest = await run(...typed.replace(proxy.address, host).split(" "));
    expect(rest).toMatchObject({ exitCode: 0 });
    // Some of those in progress were deleted completely.
    expect(JSON.parse(rest.stdout).counters.length).toBeLessThanOrEqual(ids.length - counters.length);
    expect(await left()).toEqual(["views:other"]);
  });
});

test("migrate that is interrupted moves nothing more, and prints how to resume", async () => {
  const ids = Array.from({ length: 200 }, (_, n) => `${n}`);
  await Promise.all(ids.map((id) => db.doc(`pages/${id}`).set({ visits: 1 })));
  // Slow enough to be interrupted halfway.
  const proxy = await delayingProxy(host, 25);
  const map = ["--map", "pages/{page}.visits=views:{page}"];
  const command = startCommand("migrate", ...map, "--yes", "--emulator", proxy.address);
  await until(async () => (await left()).length >= 20, "some to be moved");
  command.process.kill("SIGINT");
  const { exitCode, stderr } = await command.ended;
  await proxy.close();
  expect(exitCode).toBe(130);
  expect(stderr).toMatch(/^ {2}npx firestore-tally migrate .+ --after pages\/\d+$/m);
  // Nothing publishes in this project. A wait for that would be long enough to move all.
  expect((await left()).length).toBeLessThan(ids.length);
});

test("estimate --compare adds fixed shards and Redis, and says which design cannot take the peak", async () => {
  const { exitCode, stdout } = await run("estimate", "--per-second", "20", "--peak", "100", "--compare");
  expect(exitCode).toBe(0);
  const noteOf = (name: string) => new RegExp(`^${name} +\\$[\\d,.]+(.*)$`, "m").exec(stdout)?.[1]?.trim();
  for (const name of ["Tally", "100 fixed shards", "Redis"]) expect(noteOf(name), name).toBe("");
  expect(noteOf("10 fixed shards")).toBe("limit 10/s per counter, 100/s needed");
  const { compared } = await json("estimate", "--per-second", "20", "--compare");
  expect(compared.map(({ name }: { name: string }) => name)).toContain("Redis");
});

describe("wrong usage", () => {
  test.each([
    [[], "Usage:"],
    [["frobnicate"], "frobnicate"],
    [["inspect"], "missing required argument"],
    [["inspect", "a", "b"], "too many arguments"],
    [["inspect", "a/b"], "counter/invalid-id"],
    [["inspect", "a", "--emulator", "likes:post42"], "host:port"],
    [["top", "g", "--limit", "0"], "whole number"],
    [["reset", "a", "lots", "--yes"], "Pass a number"],
    [["delete", "--yes"], "--group"],
    [["delete", "a", "--group", "g", "--yes"], "--group"],
    [["delete", "--group", "", "--yes"], "--ungrouped"],
    [["reconcile", "--group=", "--entries", "--yes"], "--ungrouped"],
    [["estimate"], "--per-second"],
    [["estimate", "--per-second", "9", "--peak", "1"], "--peak"],
    [["estimate", "--per-second", "9", "--regions", "2", "--compare"], "--regions"],
  ])("%j exits with 2, and prints to stderr only", async (args, advice) => {
    const { exitCode, stdout, stderr } = await run(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(advice);
    expect(stderr).not.toContain("    at ");
  });
});

describe("it exits with 1 and one line that says what to do without", () => {
  const oneLine = /^error: .+\n$/;

  test("an emulator", async () => {
    const { exitCode, stderr } = await run("inspect", "a", "--emulator", "127.0.0.1:1");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain("firebase emulators:start");
  });

  test("credentials", async () => {
    const nowhere = { FIRESTORE_EMULATOR_HOST: undefined, GOOGLE_APPLICATION_CREDENTIALS: undefined, HOME: tmpdir() };
    const env = { ...nowhere, CLOUDSDK_CONFIG: tmpdir(), METADATA_SERVER_DETECTION: "none" };
    const args = [CLI, "inspect", "a", "--project", PROJECT];
    const { exitCode, stderr } = await startProgram(process.execPath, args, env).ended;
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(oneLine);
    expect(stderr).toContain("gcloud auth application-default login");
  });

  test("firebase-admin; --help and estimate need no package", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tally-cli-"));
    try {
      const alone = join(folder, "cli.mjs");
      copyFileSync(CLI, alone);
      const inspect = await startProgram(process.execPath, [alone, "inspect", "a"]).ended;
      expect(inspect.exitCode).toBe(1);
      expect(inspect.stderr).toMatch(oneLine);
      expect(inspect.stderr).toContain("npm install firebase-admin");
      expect(await startProgram(process.execPath, [alone, "--help"]).ended).toMatchObject({ exitCode: 0, stderr: "" });
      const estimate = await startProgram(process.execPath, [alone, "estimate", "--per-second", "1", "--json"]).ended;
      expect(JSON.parse(estimate.stdout).increments).toBe(2_592_000);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  // npm leaves optional dependencies out whose `engines` exclude its own Node.js.
  test("the Firestore package that firebase-admin depends on", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tally-cli-"));
    try {
      const alone = join(folder, "cli.mjs");
      copyFileSync(CLI, alone);
      for (const [path, code] of [
        ["app", "exports.initializeApp = () => ({});"],
        ["firestore", 'require("@google-cloud/firestore");'],
      ] as const) {
        const entry = join(folder, "node_modules/firebase-admin", path);
        mkdirSync(entry, { recursive: true });
        writeFileSync(join(entry, "index.js"), code);
      }
      const { exitCode, stderr } = await startProgram(process.execPath, [alone, "inspect", "a"]).ended;
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(oneLine);
      expect(stderr).toContain("npm install @google-cloud/firestore");
      expect(stderr).not.toContain("npm install firebase-admin");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

test("--verbose adds the stack", async () => {
  const { stderr } = await run("inspect", "a", "--emulator", "127.0.0.1:1", "--verbose");
  expect(stderr).toContain("    at ");
});

test("help has examples, for every command", async () => {
  const { stdout } = await run("--help");
  const commands = [...stdout.matchAll(/^ {2}([a-z]+) .*(?:\[|<)/gm)].map(([, name = ""]) => name);
  expect(commands).toEqual([
    "inspect",
    "doctor",
    "top",
    "reconcile",
    "reset",
    "fold",
    "exchange",
    "delete",
    "migrate",
    "estimate",
  ]);
  const helps = await Promise.all(commands.map((name) => run(name, "--help")));
  helps.forEach(({ exitCode, stdout: help }, i) => {
    expect(exitCode).toBe(0);
    expect(help).toContain(`Examples:\n  npx firestore-tally ${commands[i]} `);
  });
});

// `script` gives a program a terminal; these are the options of Linux.
describe.skipIf(process.platform !== "linux")("in a terminal", () => {
  function inTerminal(args: string, env: Record<string, string> = {}) {
    const command = `stty cols 80; exec ${process.execPath} ${CLI} ${args}`;
    return startProgram("script", ["-qec", command, "/dev/null"], {
      GCLOUD_PROJECT: PROJECT,
      TERM: "xterm-256color",
      ...env,
    });
  }

  async function answer(args: string, prompt: string, keys: string) {
    const terminal = inTerminal(args);
    await until(() => terminal.printed().includes(prompt), prompt);
    terminal.process.stdin?.write(keys);
    return await terminal.ended;
  }

  test("delete asks first, naming the database and the number of documents; no is the default", async () => {
    await make("likes:a", [1, 2], { entries: 3 });
    for (const [keys, exitCode, rest] of [
      ["\r", 1, ["likes:a"]],
      ["\u0003", 130, ["likes:a"]],
      ["y", 0, []],
    ] as const) {
      const ran = await answer("delete likes:a", "Continue?", keys);
      expect(ran.stdout).toContain("6 documents");
      expect(ran.stdout).toContain(`in the emulator at ${host}, project "${PROJECT}"`);
      expect(ran.exitCode).toBe(exitCode);
      expect(await left()).toEqual(rest);
    }
  });

  test("deleting a group asks for its name", async () => {
    await make("likes:a", [1]);
    expect(await answer("delete --group likes", "Type likes", "like\r")).toMatchObject({ exitCode: 1 });
    expect(await left()).toEqual(["likes:a"]);
    const { exitCode, stdout } = await answer("delete --group likes", "Type likes", "likes\r");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("100% · 1/1 counter");
    expect(await left()).toEqual([]);
  });

  test("deleting the counters without a group asks for a word; an empty answer declines", async () => {
    await make("a", [1]);
    await make("likes:b", [1]);
    expect(await answer("delete --ungrouped", "Type ungrouped", "\r")).toMatchObject({ exitCode: 1 });
    expect(await left()).toEqual(["a", "likes:b"]);
    expect(await answer("delete --ungrouped", "Type ungrouped", "ungrouped\r")).toMatchObject({ exitCode: 0 });
    expect(await left()).toEqual(["likes:b"]);
  });

  test("output has colours, unless NO_COLOR is set", async () => {
    await make("likes:a", [1]);
    expect((await inTerminal("inspect likes:a").ended).stdout).toContain(ESCAPE);
    expect((await inTerminal("inspect likes:a", { NO_COLOR: "1" }).ended).stdout).not.toContain(ESCAPE);
    expect((await inTerminal("--help", { NO_COLOR: "1" }).ended).stdout).not.toContain(ESCAPE);
  });
});
