/**
 * Counters made by hand are adopted while old apps and new ones count: exact before, during and after, and no increment is refused. The
 * functions run with ADOPTED=yes (scripts/test.ts).
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { doc, runTransaction } from "firebase/firestore";
import { FieldValue } from "firebase-admin/firestore";
import { counter, getCounter, incrementCounter, onCounter } from "firestore-tally";
import * as server from "firestore-tally/admin";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cliProject } from "../../testkit/cli.ts";
import { admin, client } from "../../testkit/clients.ts";
import { countInvocations } from "../../testkit/deployedFunctions.ts";
import { readPublished, readShards, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { createByHand, type OldApp, oldPage, oldServer, openToOldApps } from "./recipe.ts";

const { db, run, json } = cliProject(process.env.GCLOUD_PROJECT as string);
const writer = client();
const SHARDS = 10;
/** SHRINK_COOLDOWN_SECONDS of the suite, with time for the polls before the fold. */
const COOLDOWN_MS = 5_000;
const oldApps: readonly OldApp[] = [oldPage, oldServer].flatMap((open) =>
  (["increment", "transaction"] as const).map((way) => open(way, SHARDS)),
);

const RULES = readFileSync("firestore.rules", "utf8");

// These apps wait for nothing between increments, so several overtake the transaction of a page.
beforeAll(() => openToOldApps(RULES, "by >= -9 && by <= 1"));
afterAll(async () => {
  await Promise.all([...oldApps, writer].map((one) => one.close()));
  await db.terminate();
});

/** Each app increments so many times, one after the other. @returns how many increments were acknowledged, which are all */
async function count(id: string, times: number, apps: readonly OldApp[] = oldApps): Promise<number> {
  const callers = [
    ...apps.map((app) => () => app.increment(id)),
    () => incrementCounter(counter(writer.db, id)),
    () => server.incrementCounter(server.counter(admin, id)),
  ];
  await Promise.all(
    callers.map(async (call) => {
      for (let n = 0; n < times; n++) await call();
    }),
  );
  return callers.length * times;
}

async function settles(id: string, total: number): Promise<void> {
  await until(async () => (await readPublished(id))?.total === total, `${id} to show ${total}`).catch(async (error) => {
    const found = `${JSON.stringify(await readPublished(id))}, sum ${await sumOfIncrements(id)}`;
    throw new Error(`${error.message}: ${found}`);
  });
}

const fieldOf = async (id: string, field: string) => (await admin.doc(`counters/${id}`).get()).get(field);
const becomesIdle = (id: string) => until(async () => (await fieldOf(id, "phase")) === "idle", `${id} to be idle`);
const idsOf = async (id: string) => [...(await readShards(id)).keys()].toSorted();
const OLD_IDS = Array.from({ length: SHARDS }, (_, n) => `${n}`);

/** A counter that was made by hand before the functions were there. */
async function madeBefore(id: string, each: number): Promise<void> {
  await createByHand(id, SHARDS, each);
  await settles(id, SHARDS * each);
  await admin.doc(`counters/${id}`).set({ num_shards: SHARDS });
}

test("a dormant counter is published: what it has is not today's, and the command may be repeated", async () => {
  const id = "hits:dormant";
  await madeBefore(id, 100);
  const dry = await json("adopt", id, "--dry-run");
  expect(dry.counters).toMatchObject([
    { id, numShards: SHARDS, created: [], publishes: true, total: 1_000, writes: 11 },
  ]);
  expect(await idsOf(id)).toEqual(OLD_IDS);
  const { stdout } = await run("adopt", id, "--yes");
  expect(stdout).toBe(
    "1 counter adopted, 0 unchanged.\n10 shards completed, 0 created, and 1 total published: 1,000 in all.\n11 writes.\n",
  );
  await settles(id, 1_000);
  expect(await fieldOf(id, "windows")).toBeUndefined();
  for (const [shard, fields] of await readShards(id)) expect(fields).toMatchObject({ shard });
  await oldApps[0]?.increment(id);
  await settles(id, 1_001);
  expect(await fieldOf(id, "windows")).toMatchObject({ day: { total: 1 } });
  await becomesIdle(id);
  expect((await json("adopt", id, "--yes")).counters).toMatchObject([{ id, writes: 0, publishes: false }]);
});

test("old and new apps count before, during and after, over quiet phases and folds: exact, and none refused", async () => {
  const id = "hits:story";
  await madeBefore(id, 3);
  let total = 3 * SHARDS;
  const shown: number[] = [];
  const stop = onCounter(counter(writer.db, id), (state) => shown.push(state.total));
  const step = async (during: Promise<unknown> = Promise.resolve()) => {
    const [counted] = await Promise.all([count(id, 12), during]);
    total += counted;
    await settles(id, total);
    expect(await sumOfIncrements(id)).toBe(total);
    for (const app of oldApps) expect(await app.total(id), app.name).toBe(total);
    expect(await server.getExactTotal(server.counter(admin, id))).toBe(total);
    expect((await getCounter(counter(writer.db, id))).total).toBe(total);
  };
  await step();
  // What came before the first publish is in no window.
  const today = async () => (await readPublished(id))?.windows?.day.total ?? 0;
  const before = total - (await today());
  expect(before).toBeGreaterThanOrEqual(3 * SHARDS);
  await sleep(COOLDOWN_MS + 3_000);
  await step();
  await step(json("adopt", id, "--yes"));
  for (let n = 0; n < 2; n++) {
    // New clients make more shards, which are folded. Those of the old apps stay.
    await incrementMany(id, 60);
    total += 60;
    await settles(id, total);
    await becomesIdle(id);
    await sleep(COOLDOWN_MS + 1_000);
    expect(await idsOf(id)).toEqual(expect.arrayContaining(OLD_IDS));
    await step();
  }
  stop();
  expect(shown.at(-1)).toBe(total);
  expect(shown).toEqual(shown.toSorted((a, b) => a - b));
  expect(await today()).toBe(total - before);
});

/** Increments on shards beyond those of old apps, as clients of Tally write while they are contended. */
async function incrementMany(id: string, times: number): Promise<void> {
  const [one, at] = [FieldValue.increment(1), FieldValue.serverTimestamp()];
  const ids = Array.from({ length: times }, (_, n) => `${SHARDS + (n % 5)}`);
  const write = (shard: string) => ({ shard, count: one, writes: one, at });
  await Promise.all(ids.map((shard) => admin.doc(`counters/${id}/shards/${shard}`).set(write(shard), { merge: true })));
}

test("I2, I7: each shard of an idle counter wakes the functions, and without writes nothing runs", async () => {
  const id = "hits:idle";
  await createByHand(id, SHARDS);
  await json("adopt", id, "--yes");
  await settles(id, 0);
  await becomesIdle(id);
  const latencies: number[] = [];
  for (let n = 0; n < SHARDS; n++) {
    const start = performance.now();
    await admin.doc(`counters/${id}/shards/${n}`).update({ count: n + 1 });
    await settles(id, ((n + 1) * (n + 2)) / 2);
    latencies.push(performance.now() - start);
    await sleep(1_100);
  }
  console.log(`old writes to an idle counter are published within ${Math.round(Math.max(...latencies))} ms`);
  await becomesIdle(id);
  await sleep(2_000);
  const [before, publishes] = [countInvocations().all, await fieldOf(id, "publishes")];
  await sleep(COOLDOWN_MS + 8_000);
  expect(countInvocations().all - before).toBe(0);
  expect(await fieldOf(id, "publishes")).toBe(publishes);
});

test("a counter that an old server makes later counts at once, by old apps and new ones", async () => {
  const id = "hits:later";
  await createByHand(id, SHARDS);
  const total = await count(id, 5);
  await settles(id, total);
  expect((await json("adopt", "--yes")).counters).toContainEqual(expect.objectContaining({ id, total }));
});

describe("adopt", () => {
  test("stores a number of shards that only the code has, and creates the shards that are missing", async () => {
    const id = "hits:hardwired";
    const shards = admin.collection(`counters/${id}/shards`);
    await Promise.all([shards.doc("4").set({ count: 4 }), shards.doc(`${SHARDS - 1}`).set({ count: 9 })]);
    const { counters } = await json("adopt", id, "--yes");
    expect(counters).toMatchObject([{ numShards: SHARDS, setsNumShards: true, total: 13 }]);
    expect(await idsOf(id)).toEqual(expect.arrayContaining(OLD_IDS));
    const counted = await count(id, 5);
    await settles(id, 13 + counted);
  });

  test("leaves others alone, and says why", async () => {
    await admin.doc("counters/hits:odd").set({ num_shards: 2 });
    await admin.doc("counters/hits:odd/shards/0").set({ count: 1, name: "x" });
    const { counters } = await json("adopt", "hits:odd", "hits:none", "--yes");
    expect(counters).toEqual([
      {
        id: "hits:odd",
        writes: 0,
        leftAlone: "shards/0 has the field name: remove it, or the rules refuse new clients",
      },
      { id: "hits:none", writes: 0, leftAlone: "has neither num_shards nor shards" },
    ]);
    const { stdout } = await run("adopt", "hits:odd", "--yes");
    expect(stdout).toContain("left alone\n- hits:odd: shards/0 has the field name");
    // As published, so that this is not the reason.
    await admin.doc("counters/hits:odd").update({ asOf: FieldValue.serverTimestamp() });
    expect((await json("adopt", "hits:odd", "--end", "--yes")).counters).toEqual([counters[0]]);
    expect(await fieldOf("hits:odd", "num_shards")).toBe(2);
    await admin.recursiveDelete(admin.doc("counters/hits:odd"));
  });

  test("--end lets the functions fold the shards of old apps; Tally's clients count as before", async () => {
    const id = "hits:ending";
    await createByHand(id, SHARDS, 7);
    const [early] = (await json("adopt", id, "--end", "--yes")).counters;
    expect(early).toMatchObject({ id, writes: 0, leftAlone: expect.stringContaining("adopt it first") });
    await json("adopt", id, "--yes");
    await settles(id, 70);
    await becomesIdle(id);
    expect((await json("adopt", id, "--end", "--yes")).counters).toEqual([{ id, ended: true, writes: 2 }]);
    expect((await json("adopt", id, "--end", "--yes")).counters).toEqual([{ id, ended: false, writes: 0 }]);
    for (let n = 0; n < 10; n++) await incrementCounter(counter(writer.db, id));
    await settles(id, 80);
    await until(
      async () => (await idsOf(id)).every((shard) => ["0", "base"].includes(shard)),
      "shards to be folded",
      120_000,
    );
    await settles(id, 80);
    await becomesIdle(id);
    expect(await fieldOf(id, "shardCount")).toBe(1);
  });
});

test("a page's transaction is made again if one increment has overtaken it, by the default rules; if two have, by a wider policy", async () => {
  const id = "hits:overtaken";
  await createByHand(id, 1);
  const page = client();
  const shard = doc(page.db, `counters/${id}/shards/0`);
  /** A transaction whose first attempt is overtaken so many times. */
  const overtaken = async (times: number) => {
    let attempts = 0;
    await runTransaction(page.db, async (transaction) => {
      const { count } = (await transaction.get(shard)).data() as { count: number };
      if (attempts++ === 0)
        for (let n = 0; n < times; n++)
          await admin.doc(`counters/${id}/shards/0`).update({ count: FieldValue.increment(1) });
      transaction.update(shard, { count: count + 1 });
    });
  };
  await openToOldApps(RULES);
  await overtaken(1);
  expect(await sumOfIncrements(id)).toBe(2);
  await expect(overtaken(2)).rejects.toMatchObject({ code: "permission-denied" });
  // The recipe's rule.
  await openToOldApps(RULES, "by == 1");
  await expect(overtaken(1)).rejects.toMatchObject({ code: "permission-denied" });
  await openToOldApps(RULES, "by >= -9 && by <= 1");
  await overtaken(2);
  expect(await sumOfIncrements(id)).toBe(2 + 2 + 1 + 3);
  await page.close();
});

test("the rules let no old app without an account count likes", async () => {
  const id = "likes:adopted";
  await createByHand(id, SHARDS);
  const page = oldPage("increment", SHARDS);
  await expect(page.increment(id)).rejects.toMatchObject({ code: "permission-denied" });
  await expect(page.increment("hits:nowhere")).rejects.toThrow();
  await page.close();
  expect(await sumOfIncrements(id)).toBe(0);
});
