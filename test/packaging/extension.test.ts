/** What the emulator does not run of an extension: its task queue. Its handler must work in a process of its own. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";

test("the extension's aggregate function works in an instance that hosts nothing else", async () => {
  const id = "extension:task";
  // A collection that the functions of the suite do not watch.
  await admin.doc(`unwatched/${id}/shards/0`).set({ count: 7, writes: 1 });
  await admin.doc("unwatchedPosts/one").set({});
  const run = `
    const { aggregate } = await import("./functions/lib/index.js");
    for (const counterId of [${JSON.stringify(id)}, "unwatchedPosts"]) {
      await aggregate.run({ counterId, due: Date.now() }, {});
    }
    process.exit(0);`;
  const params = {
    EXT_INSTANCE_ID: "tally",
    COLLECTION: "unwatched",
    DATABASE_ID: "(default)",
    LOCATION: "us-central1",
  };
  const numbers = { MIN_SHARDS: "1", MAX_SHARDS: "1000", WRITES_PER_SHARD: "1", SHRINK_COOLDOWN_SECONDS: "600" };
  const rest = {
    MIN_INTERVAL_SECONDS: "1",
    MAX_INTERVAL_SECONDS: "10",
    PRECISION: "0.001",
    HISTORY_DAYS: "30",
    TIME_ZONE: "UTC",
    EXCHANGE_SECONDS: "1",
  };
  const collections = {
    COUNTED_COLLECTION: "unwatchedPosts",
    MIRRORS: "unwatchedPosts=unwatchedPosts/one.posts",
    BRIDGE: "",
  };
  const env = { ...process.env, ...params, ...numbers, ...rest, ...collections, FUNCTIONS_EMULATOR: "true" };
  await promisify(execFile)("node", ["--input-type=module", "-e", run], { env });
  expect((await admin.doc(`unwatched/${id}`).get()).get("total")).toBe(7);
  expect((await admin.doc("unwatched/unwatchedPosts").get()).get("total")).toBe(1);
  expect((await admin.doc("unwatchedPosts/one").get()).get("posts")).toBe(1);
});
