/**
 * Counting a collection: the deployed functions count `posts/{post}/comments` (the parameters are in scripts/test.ts). What it costs
 * is shown by the backend's code in this process (testkit/inProcessBackend.ts); events that come late, by test/simulation.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { counter, getCounter, incrementCounter } from "firestore-tally";
import {
  ensureCounter,
  getExactTotal,
  reconcileCounter,
  resetCounter,
  counter as serverCounter,
  setCounterSource,
} from "firestore-tally/admin";
import { afterAll, beforeAll, expect, test } from "vitest";
import { counterIdOf, parseCountedCollection } from "../../core/src/index.ts";
import { toMillis } from "../../functions/src/counter/time.ts";
import { createWakeHandler } from "../../functions/src/counter/wake.ts";
import { runSweep } from "../../functions/src/deploy/runSweep.ts";
import { runTask } from "../../functions/src/deploy/runTask.ts";
import { admin, type Client, client } from "../../testkit/clients.ts";
import { logged } from "../../testkit/deployedFunctions.ts";
import { inProcessBackend, SNAPSHOT_LAG } from "../../testkit/inProcessBackend.ts";
import { metered } from "../../testkit/metered.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

let user: Client;
beforeAll(() => {
  user = client();
});
afterAll(() => user.close());

const commentsOf = (post: string) => admin.collection(`posts/${post}/comments`);
const counted = async (post: string, total: number) =>
  until(async () => (await readPublished(`comments:${post}`))?.total === total, `comments:${post} to be ${total}`);

test.concurrent("documents that single writes, batches and transactions create and delete are counted, without calls by clients", async () => {
  const [post, id] = ["busy", "comments:busy"];
  const fresh = () => commentsOf(post).doc();
  const [inBatch, inTransaction] = [Array.from({ length: 5 }, fresh), Array.from({ length: 2 }, fresh)];
  const single = await commentsOf(post).add({});
  const creation = admin.batch();
  for (const document of inBatch) creation.create(document, {});
  await creation.commit();
  await admin.runTransaction(async (transaction) => {
    for (const document of inTransaction) transaction.create(document, {});
  });
  await counted(post, 8);
  // Read without the rules, which do not let clients read the collection.
  expect(await getExactTotal(serverCounter(admin, id))).toBe(8);
  expect(await getCounter(counter(user.db, id))).toMatchObject({ total: 8, shardCount: 1 });

  await single.delete();
  const exchange = admin.batch();
  for (const document of inBatch.slice(0, 3)) exchange.delete(document);
  exchange.create(fresh(), {});
  await exchange.commit();
  await counted(post, 5);
  const rest = await commentsOf(post).get();
  const deletion = admin.batch();
  for (const { ref } of rest.docs) deletion.delete(ref);
  await deletion.commit();
  await counted(post, 0);
  expect((await admin.collection(`counters/${id}/shards`).get()).empty).toBe(true);
});

test.concurrent("increments do not change the total, what sets it is refused, and ensureCounter counts documents that existed before", async () => {
  const ref = serverCounter(admin, "comments:reset");
  await commentsOf("reset").add({});
  await counted("reset", 1);
  await incrementCounter(counter(user.db, "comments:reset"));
  await until(
    async () => ((await readPublished("comments:reset"))?.publishes ?? 0) > 1,
    "a publish after the increment",
  );
  const source = { collection: "posts/reset/comments" };
  for (const call of [
    () => resetCounter(ref, 500),
    () => reconcileCounter(ref, { source }),
    () => reconcileCounter(ref, { source, dryRun: true }),
    () => setCounterSource(ref, source),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: "counter/counted-collection" });
  }
  expect((await readPublished("comments:reset"))?.total).toBe(1);

  // As before the deployment: the functions have not counted this document.
  await commentsOf("old").add({});
  await counted("old", 1);
  await admin.doc("counters/comments:old").delete();
  await ensureCounter(serverCounter(admin, "comments:old"));
  await counted("old", 1);
});

test.concurrent.each(["é 中文%2F:100%", "...", "{post}"])("documents below the id %j are counted", async (post) => {
  await commentsOf(post).add({});
  await counted(post, 1);
});

test.concurrent("a collection whose path is too long for a counter id is not counted, and logged", async () => {
  const collection = commentsOf("x".repeat(1_495));
  await collection.add({});
  const message = "cannot count this collection";
  await until(() => logged(message).length > 0, "the report");
  expect(logged(message)).toEqual([expect.objectContaining({ severity: "ERROR", collection: collection.path })]);
});

// ── The backend's own code ────────────────────────────────────────────────────────────────────────────────────────

test.concurrent("I6: counting takes no lock, writes the counter document alone, and costs 1 read per 1,000 documents", async () => {
  const { firestore, usedBy, calls, close } = await metered();
  const path = `counted${process.pid}/backend/documents`;
  const config = parseCountedCollection(path);
  const { backend, tasks } = inProcessBackend({ collections: config }, firestore);
  const counterId = counterIdOf(path, config) as string;
  const [collection, ref] = [admin.collection(path), backend.counters.doc(counterId)];
  for (const size of [500, 500]) {
    const batch = admin.batch();
    for (let n = 0; n < size; n++) batch.create(collection.doc(), {});
    await batch.commit();
  }
  const wake = createWakeHandler(backend);
  const { writeTime } = await collection.doc().create({});
  const event = { counterId, committedAt: toMillis(writeTime) };
  // A snapshot of the emulator is certain to include it.
  await sleep(2 * SNAPSHOT_LAG);

  // The counter document, and 1,001 documents.
  expect(await usedBy(() => wake(event))).toEqual({ reads: 1 + 2, writes: 1, deletes: 0 });
  expect((await ref.get()).get("total")).toBe(1_001);
  // The same event again, in the instance that has published and in a new one.
  expect(await usedBy(() => wake(event))).toEqual({ reads: 0, writes: 0, deletes: 0 });
  expect(await usedBy(() => createWakeHandler(backend)(event))).toEqual({ reads: 1, writes: 0, deletes: 0 });
  for (let task = tasks.shift(); task; task = tasks.shift()) await runTask(backend, task);
  await runSweep(backend);
  expect((await admin.collection(`${ref.path}/shards`).get()).empty).toBe(true);
  expect(Object.fromEntries(calls)).not.toHaveProperty("transaction");
  await close();
});
