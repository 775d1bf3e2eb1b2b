/** How large marks make a shard, with clients that write as often as a shard takes, or far more often. */
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { MARK_LIFETIME_SECONDS, MARK_WINDOW_MILLIS, MARK_WINDOWS, planIncrement } from "../../core/src/index.ts";
import { adminAt } from "../../testkit/clients.ts";
import { documentBytes } from "../../testkit/production/sizes.ts";
import { integer, markWindows, nonceOf } from "./fuzz/oracle.ts";
import { ADMIN, type Database, database, type Value } from "./rest.ts";
import { DELETED, increment, update, window } from "./writes.ts";

const PROJECT = `demo-tally-marks-${process.pid}`;
let db: Database;
beforeAll(async () => {
  db = await database(PROJECT, readFileSync("firestore.rules", "utf8"));
});

/** An increment as a client plans it at a time. @returns whether it was accepted */
async function write(counter: string, at: number): Promise<boolean> {
  const plan = planIncrement(counter, "0", 1, at, Math.random);
  return (await db.commit(null, [increment(plan.path, { marks: { [plan.window]: window(plan.nonce) } })])) === 200;
}

test("a shard has at most 4 kB at one write a second, without a removal of marks for ten minutes", {
  tags: ["deep"],
}, async () => {
  const start = Date.now();
  for (let second = 0; second < 600; second++) expect(await write("counters/slow", start + second * 1_000)).toBe(true);
  expect(await sizeOf("counters/slow/shards/0")).toBeLessThanOrEqual(4_000);
});

test("a shard has at most 64 kB at 100 writes a second, after a removal of old marks", async () => {
  const path = "counters/fast/shards/0";
  // The state after four minutes: each window has the marks of 15 seconds, and is 15 seconds older than the next one.
  const now = Date.now();
  const windows = Array.from({ length: MARK_WINDOWS }, (_, n) => {
    const at = new Date(now - (MARK_WINDOWS - 1 - n) * MARK_WINDOW_MILLIS).toISOString();
    const nonces = Array.from({ length: (100 * MARK_WINDOW_MILLIS) / 1_000 }, (_, i) => nonceOf(n * 1e6 + i));
    return [n.toString(16), [at, ...nonces]] as [string, [string, ...Value[]]];
  });
  const filled = { shard: { stringValue: "0" }, count: integer(1e6), writes: integer(1e6) };
  await db.commit(ADMIN, [{ path, set: { ...filled, marks: markWindows(Object.fromEntries(windows)) } }]);
  expect(await write("counters/fast", 0)).toBe(true);

  const old = windows.filter(([name, [at]]) => name !== "0" && now - Date.parse(at) > MARK_LIFETIME_SECONDS * 1_000);
  const young = windows.filter((window) => !old.includes(window) && window[0] !== "0");
  const remove = (some: typeof windows) =>
    update(path, { marks: Object.fromEntries(some.map(([name]) => [name, DELETED])) });
  expect(await db.commit(null, [remove([...old, ...young.slice(-1)])])).toBe(403);
  expect(await db.commit(null, [remove(old)])).toBe(200);
  expect(await sizeOf(path)).toBeLessThanOrEqual(64_000);
});

async function sizeOf(path: string): Promise<number> {
  const { firestore, close } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string, PROJECT);
  const document = await firestore.doc(path).get();
  await close();
  return documentBytes(path, document.data() ?? {});
}
