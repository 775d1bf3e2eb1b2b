/**
 * What the emulator does not run of an extension: its task queue. Its handler must work in a process of its own, and in a database and a
 * collection of other names.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { COUNTING_DEFAULTS } from "../../functions/src/deploy/parameters.ts";
import { adminAt } from "../../testkit/clients.ts";

test("the extension's aggregate function works in an instance that hosts nothing else", async () => {
  const id = "extension:task";
  const { firestore, close } = adminAt(process.env.FIRESTORE_EMULATOR_HOST as string, undefined, "shop");
  await firestore.doc(`unwatched/${id}/shards/0`).set({ count: 7, writes: 1 });
  await firestore.doc("unwatchedPosts/one").set({});
  const run = `
    const { aggregate } = await import("./functions/lib/index.js");
    for (const counterId of [${JSON.stringify(id)}, "unwatchedPosts"]) {
      await aggregate.run({ counterId, due: Date.now(), kind: "poll" }, {});
    }
    process.exit(0);`;
  const params = {
    ...COUNTING_DEFAULTS,
    EXT_INSTANCE_ID: "tally",
    COLLECTION: "unwatched",
    DATABASE_ID: "shop",
    COUNTED_COLLECTION: "unwatchedPosts",
    MIRRORS: "unwatchedPosts=unwatchedPosts/one.posts",
  };
  const env = { ...process.env, ...params, FUNCTIONS_EMULATOR: "true" };
  await promisify(execFile)("node", ["--input-type=module", "-e", run], { env });
  expect((await firestore.doc(`unwatched/${id}`).get()).get("total")).toBe(7);
  expect((await firestore.doc("unwatched/unwatchedPosts").get()).get("total")).toBe(1);
  expect((await firestore.doc("unwatchedPosts/one").get()).get("posts")).toBe(1);
  await close();
});
