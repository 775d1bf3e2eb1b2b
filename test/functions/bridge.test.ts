/**
 * The bridge: the deployed functions take what old apps write for Google's counter into the counters that `BRIDGE`
 * names (the parameters are in scripts/test.ts). The tests of the move in test/migration have more of that extension.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { FieldPath, FieldValue } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { afterAll, beforeAll, expect, test } from "vitest";
import { publishCounter, counter as serverCounter } from "../../admin/src/index.ts";
import { parseMirrors } from "../../core/src/index.ts";
import { moveLegacyIncrements } from "../../firestore/src/index.ts";
import { toMillis } from "../../functions/src/counter/time.ts";
import { createWakeHandler } from "../../functions/src/counter/wake.ts";
import { createBridgeHandler } from "../../functions/src/features/bridge/moveIncrements.ts";
import { beforeFirstCommit } from "../../testkit/aroundCommits.ts";
import { admin, type Client, client } from "../../testkit/clients.ts";
import { logged } from "../../testkit/deployedFunctions.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { legacyNodeClient } from "../../testkit/legacy/clients.ts";
import { metered } from "../../testkit/metered.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

let writer: Client;
beforeAll(() => {
  writer = client();
});
afterAll(() => writer.close());

const shards = (document: string) => admin.collection(`${document}/_counter_shards_`);
const pending = async (document: string) => (await shards(document).get()).docs.map((shard) => shard.data());
const fieldOf = async (document: string, field: string) =>
  (await admin.doc(document).get()).get(new FieldPath(...field.split(".")));

/** An increment of an old client, by default of a new one. */
const incrementOld = (document: string, field: string, by: number, shard?: string) =>
  legacyNodeClient(admin, shard).increment({ document, field, by });

/** Waits until a field shows a total, which its counter was published with, and no increment is pending. */
async function settles(document: string, field: string, counterId: string, total: number): Promise<void> {
  await until(async () => (await readPublished(counterId))?.total === total, `${counterId} to be ${total}`);
  await until(async () => (await fieldOf(document, field)) === total, `${field} of ${document} to be ${total}`);
  expect(await sumOfIncrements(counterId)).toBe(total);
}

test.concurrent("a move is made again if the old functions have changed the field meanwhile, even if it would keep it", async () => {
  const page = "pages/changed";
  // No function publishes what is in this collection.
  const collection = "moved";
  await admin.doc(page).set({ visits: 15 });
  const fields = [{ counterId: "visits:changed", field: ["visits"] }];
  const move = (firestore = admin) => moveLegacyIncrements(firestore, collection, page, fields);
  await move();
  // The old functions have taken one back, and add it again between the read of a move and its commit.
  await admin.doc(page).update({ visits: 14 });
  await move(beforeFirstCommit(admin, () => admin.doc(page).update({ visits: 15 })));
  const base = await admin.doc(`${collection}/visits:changed/shards/base`).get();
  expect([await fieldOf(page, "visits"), base.get("count")]).toEqual([15, 15]);
});

test.concurrent("what an old app adds is in the counter and in the field, and its shards are gone", async () => {
  const page = "pages/old";
  await admin.doc(page).set({ title: "kept" });
  const shard = randomUUID();
  await Promise.all([
    ...Array.from({ length: 10 }, () => incrementOld(page, "visits", 2)),
    ...Array.from({ length: 5 }, () => incrementOld(page, "visits", -3, shard)),
    incrementOld(page, "stats.stars", 7, shard),
  ]);
  await settles(page, "visits", "visits:old", 5);
  await settles(page, "stats.stars", "stars:old", 7);
  expect((await admin.doc(page).get()).data()).toEqual({ title: "kept", visits: 5, stats: { stars: 7 } });
  expect(await pending(page)).toEqual([]);
});

test.concurrent("new apps and old ones count into the same total, and a document that is missing is created", async () => {
  const page = "pages/both";
  const views = counter(writer.db, "visits:both");
  for (let n = 0; n < 10; n++) await Promise.all([incrementOld(page, "visits", 1), incrementCounter(views)]);
  await settles(page, "visits", "visits:both", 20);
});

test.concurrent("the total that a field had before is imported once, even if a new app counts first", async () => {
  const page = "pages/imported";
  await admin.doc(page).set({ visits: 1_000, stats: "none" });
  await incrementCounter(counter(writer.db, "visits:imported"));
  await until(async () => (await fieldOf(page, "visits")) === 1_001, "the field to show the increment of a new app");
  await incrementOld(page, "visits", 5);
  await settles(page, "visits", "visits:imported", 1_006);
  const fields = [{ counterId: "visits:imported", field: ["visits"] }];
  for (let n = 0; n < 3; n++) {
    expect(await moveLegacyIncrements(admin, "counters", page, fields)).toMatchObject({ amounts: [0], shards: 0 });
  }
  await settles(page, "visits", "visits:imported", 1_006);
});

test.concurrent("I9: a counter that another field has shown is not taken for what this field shows", async () => {
  const page = "pages/renamed";
  await admin.doc(page).set({ visits: 500, tallyViews: 800 });
  // As published with MIRRORS=visits=pages/{name}.tallyViews.
  await admin.doc("counters/visits:renamed/shards/base").set({ shard: "base", count: 800, writes: 800 });
  await admin.doc("counters/visits:renamed").set({ mirrored: 800, mirroredIn: `${page} tallyViews` }, { merge: true });
  // Nor after the question whether a mirror shows the total.
  await publishCounter(serverCounter(admin, "visits:renamed"));
  await until(async () => (await fieldOf(page, "visits")) === 1_300, "the whole total in the field");
  await incrementOld(page, "visits", 1);
  await settles(page, "visits", "visits:renamed", 1_301);
  expect(await fieldOf(page, "tallyViews")).toBe(800);
});

test.concurrent("partial shards of the old functions, deeper in the database, are taken as their sums, negative ones too", async () => {
  const room = "teams/red/rooms/one";
  await admin.doc(room).set({ members: 10 });
  const update = (members: number) => ({ _id_: randomUUID(), _data_: { members } });
  await shards(room)
    .doc("\t\t\ta1")
    .set({ _updates_: [update(5), update(-2)] });
  await shards(room)
    .doc("\t\t\t\tb")
    .set({ _updates_: FieldValue.arrayUnion(update(-1)) }, { merge: true });
  await settles(room, "members", "members:red:one", 12);
  expect(await pending(room)).toEqual([]);
});

test.concurrent("increments of fields that BRIDGE does not name stay, and are logged", async () => {
  const page = "pages/unmapped";
  await shards(page)
    .doc("one")
    .set({ visits: 1, clicks: 4, deep: { stars: 2, text: "x" } });
  await shards(page)
    .doc("\tpart")
    .set({
      _updates_: [
        { _id_: "a", _data_: { visits: 1, clicks: 6 } },
        { _id_: "b", _data_: { visits: 2 } },
      ],
    });
  await shards("books/one").doc("one").set({ visits: 1 });
  await settles(page, "visits", "visits:unmapped", 4);
  expect(await pending(page)).toEqual([
    { _updates_: [{ _id_: "a", _data_: { clicks: 6 } }] },
    { clicks: 4, deep: { stars: 2, text: "x" } },
  ]);
  expect(await pending("books/one")).toEqual([{ visits: 1 }]);
  const isReported = (field: string) =>
    logged("left increments of Google's counter alone").some((line) => line.field === field);
  await until(() => ["clicks", "deep.stars", "any"].every(isReported), "the log");
});

test.concurrent("what is no finite number is left out, and a field that is gone shows the whole total again", async () => {
  const page = "pages/odd";
  await admin.doc(page).set({ visits: 5 });
  await shards(page).doc("one").set({ visits: Number.NaN });
  await shards(page).doc("two").set({ visits: "6" });
  await shards(page).doc("huge").set({ visits: 1e300 });
  await shards(page)
    .doc("reference")
    .set({ visits: admin.doc(page), when: new Date(0), bytes: Buffer.alloc(1_000) });
  await shards(page).doc("three").set({ visits: 7 });
  await settles(page, "visits", "visits:odd", 12);
  expect((await pending(page)).map(({ visits }) => typeof visits)).toEqual(["number", "number", "object", "string"]);
  await admin.doc(page).update({ visits: FieldValue.delete() });
  await incrementOld(page, "visits", 1);
  await settles(page, "visits", "visits:odd", 13);
  // The app replaces its document, and a new app counts first.
  await admin.doc(page).set({ title: "replaced" });
  await incrementCounter(counter(writer.db, "visits:odd"));
  await settles(page, "visits", "visits:odd", 14);
  await incrementOld(page, "visits", 1);
  await settles(page, "visits", "visits:odd", 15);
});

test.concurrent("an increment of an old app costs 5 reads, 4 writes and a delete; of a crowd, 1.2 of each or less", async () => {
  const { firestore, usedBy, close } = await metered();
  // No deployed function counts below this collection, so only this process is metered.
  const folder = `bridged${process.pid}`;
  const mirrors = parseMirrors(`visits=${folder}/{name}.visits`, "BRIDGE");
  const { backend } = inProcessBackend({ mirrors }, firestore);
  const [bridge, wake] = [createBridgeHandler(backend), createWakeHandler(backend)];
  /** Lets so many clients increment, and the functions handle all events but those of deletions, which cost nothing. */
  const handle = async (clients: number) => {
    const page = `${folder}/of${clients}`;
    await admin.doc(page).set({});
    const commits = await Promise.all(
      Array.from({ length: clients }, () => shards(page).doc(randomUUID()).set({ visits: 1 })),
    );
    await Promise.all(commits.map(({ writeTime }) => bridge({ document: page, committedAt: toMillis(writeTime) })));
    const counterId = `visits:of${clients}`;
    const base = await admin.doc(`${backend.config.collection}/${counterId}/shards/base`).get();
    const committedAt = toMillis(base.updateTime as FirebaseFirestore.Timestamp);
    // The emulator's snapshots may lag, and then a measurement is made again.
    await sleep(2 * backend.snapshotLag);
    await wake({ counterId, shardId: "base", isNew: true, committedAt });
    expect((await admin.doc(page).get()).data()).toEqual({ visits: clients });
    expect((await admin.doc(`${backend.config.collection}/${counterId}`).get()).get("total")).toBe(clients);
  };
  expect(await usedBy(() => handle(1))).toEqual({ reads: 5, writes: 4, deletes: 1 });
  const crowd = await usedBy(() => handle(19));
  console.log(`19 increments of an old app: ${JSON.stringify(crowd)}`);
  expect(crowd.reads).toBeLessThanOrEqual(1.3 * 19);
  expect(crowd).toMatchObject({ writes: 4, deletes: 19 });
  await close();
});
