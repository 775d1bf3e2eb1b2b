/** The commands that change counters, on the emulator: `reset`, `fold`, `reconcile` and `delete`. */
import { status } from "@grpc/grpc-js";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { cliProject } from "../../testkit/cli.ts";
import { Refused, startProxy } from "../../testkit/grpcProxy.ts";

const PROJECT = "demo-cli-changing";
const { db, run, json, counter: make, shards, left, clear } = cliProject(PROJECT);
const host = process.env.FIRESTORE_EMULATOR_HOST as string;

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0);

beforeEach(() => clear());
afterAll(async () => await db.terminate());

test("without --yes and a terminal nothing is changed, and the message names the change", async () => {
  await make("likes:a", [5]);
  for (const [args, change] of [
    [["reset", "likes:a", "0"], /^error: Reset likes:a from 5 to 0 in the emulator at .*pass --yes\n$/],
    [["delete", "--group", "likes"], /Delete 1 counter of the group "likes"/],
    [["reconcile", "likes:a", "--entries"], /Reconcile likes:a with \{"entries":true\}/],
  ] as const) {
    const { exitCode, stdout, stderr } = await run(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(change);
  }
  expect(await shards("likes:a")).toEqual({ 0: 5 });
});

describe("reset", () => {
  test("prints the total before and after", async () => {
    await make("visits:today", [5, 6]);
    expect(await json("reset", "visits:today", "100", "--yes")).toMatchObject({ before: 11, after: 100 });
    expect(sum(await shards("visits:today"))).toBe(100);
    expect(await json("reset", "--yes", "visits:today", "--", "-5")).toMatchObject({ before: 100, after: -5 });
  });

  test("forgets the visitors alone, if no total is named", async () => {
    await make("visits:today", [5]);
    await db.doc("counters/visits:today/tallyVisitors/3").set({ visitors: ["3f"] });
    expect((await run("reset", "visits:today", "--yes")).stderr).toMatch(/name the new total, or add --visitors/);
    const { exitCode, stdout } = await run("reset", "visits:today", "--visitors", "--yes");
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: "visits:today: its visitors are forgotten. The total stays.\n",
    });
    expect(await shards("visits:today")).toEqual({ 0: 5 });
    expect((await db.collection("counters/visits:today/tallyVisitors").get()).empty).toBe(true);
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
});

test("a counter of documents is neither reconciled, with any source or none, nor reset", async () => {
  await make("comments:42", []);
  await db.doc("counters/comments:42").update({ total: 3, countedCollection: "posts/42/comments" });
  const reason =
    'counter/counted-collection: "comments:42" counts the documents of posts/42/comments; create or delete documents there to change its total. If it no longer does, `npx firestore-tally publish` it\n';
  for (const source of [["--from", "posts/42/comments"], []]) {
    const { exitCode, stderr } = await run("reconcile", "comments:42", ...source, "--yes");
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`failed comments:42: ${reason}`);
    expect(stderr).not.toContain("Name a source");
  }
  const { exitCode, stderr } = await run("reset", "comments:42", "0", "--yes");
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `error: ${reason}` });
  expect(await shards("comments:42")).toEqual({});
});

test("publish has the functions look at a counter and its mirror again, and makes no counter", async () => {
  await make("likes:a", [5]);
  await db.doc("counters/likes:a").update({ mirrored: 5, mirroredIn: "posts/a likes" });
  const { exitCode, stderr } = await run("publish", "likes:a", "likes:typo");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("likes:typo: does not exist");
  expect((await db.doc("counters/likes:a").get()).data()).toMatchObject({ mirrored: 5, mirrorAgain: true });
  expect(await shards("likes:a")).toEqual({ 0: 5, base: 0 });
  expect(await shards("likes:typo")).toEqual({});
  expect(await run("publish", "--group", "likes")).toMatchObject({
    exitCode: 0,
    stdout: "1 counter will be published within some ten seconds.\n",
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

  test("leaves the shards that old clients of an adopted counter need", async () => {
    await make("views:a", [1, 2, 3, 4], { shardCount: 1 });
    await db.doc("counters/views:a").update({ num_shards: 3 });
    await json("fold", "views:a", "--quiet-for", "0");
    expect(await shards("views:a")).toEqual({ 0: 1, 1: 2, 2: 3, base: 4 });
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
    const source = ["--from", "posts/{name}/comments", "--where", "state == public", "--sum", "score", "--yes"];
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
});
