/** `inspect` and `top`, on the emulator. */
import { Timestamp } from "@google-cloud/firestore";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { cliProject } from "../../testkit/cli.ts";

const PROJECT = "demo-cli-reading";
const { db, run, json, counter: make, clear } = cliProject(PROJECT);
const host = process.env.FIRESTORE_EMULATOR_HOST as string;

const ESCAPE = "\u001b";

beforeEach(() => clear());
afterAll(async () => await db.terminate());

describe("inspect", () => {
  test("shows the published total, the exact sum, their difference and the cost", async () => {
    await make("likes:post42", [5, 9, 1, 1], { shardCount: 2, rate: 1.5, entries: 7 });
    await db.doc("counters/likes:post42/shards/0").update({ count: 8, writes: 8 });
    await db.doc("counters/likes:post42/shards/base").set({ count: 4, writes: 1 });
    await db.doc("counters/likes:post42/tallyReceipts/x").set({});
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

  test("shows a counter that clients alone have written: its total, and whether the document is open", async () => {
    const marks = {
      "0": { at: Timestamp.now(), nonces: [Buffer.from("aaaaa"), Buffer.from("bbbbb"), Buffer.from("ccccc")] },
    };
    const direct = { open: true, generation: 0, count: 3, writes: 3, marks };
    await db.doc("counters/views:new").set({ group: "views", total: 3, direct });
    await db.doc("counters/views:new/shards/0").set({ shard: "0", count: 2, writes: 2 });
    expect(await json("inspect", "views:new")).toMatchObject({
      published: { total: 3, asOf: null },
      direct: { open: true, generation: 0, marks: 3, count: 3, writes: 3 },
      exact: { total: 5 },
      ageMillis: null,
    });
    const { stdout } = await run("inspect", "views:new");
    expect(stdout).toMatch(/^total +3 .*\nexact +5 +now, \+2\ndirect +3 +3 writes of the document; open, 3 marks/m);
    expect((await json("top", "views")).counters).toMatchObject([{ id: "views:new", total: 3, rate: 0 }]);
    expect((await run("top", "views")).stdout).toMatch(/views:new +3 +0 +–/);
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

test("inspect compares a counter of documents with their number", async () => {
  const batch = db.batch();
  for (let n = 0; n < 3; n++) batch.create(db.collection("posts/42/comments").doc(), {});
  await batch.commit();
  await make("comments:42", []);
  await db.doc("counters/comments:42").update({ total: 3, countedCollection: "posts/42/comments" });
  const { exact, difference, warnings, published } = await json("inspect", "comments:42");
  expect({ total: exact.total, difference, warnings }).toEqual({ total: 3, difference: 0, warnings: [] });
  expect(published.countedCollection).toBe("posts/42/comments");
  expect((await run("inspect", "comments:42")).stdout).toMatch(/counts +posts\/42\/comments/);
});
