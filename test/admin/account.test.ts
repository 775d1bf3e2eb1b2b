/** All that an account has counted, undone or moved to another account, while both count, and over calls that are cut. */
import { FieldValue } from "firebase-admin/firestore";
import * as web from "firestore-tally";
import { afterAll, describe, expect, test } from "vitest";
import {
  counter,
  deleteCounter,
  ensureCounter,
  getExactTotal,
  incrementCounter,
  moveIncrements,
  takeFromCounter,
  undoIncrementsOf,
} from "../../admin/src/index.ts";
import { randomFor } from "../../core/testing/random.ts";
import { aroundCommits, beforeFirstCommit, losingFirstAnswer } from "../../testkit/aroundCommits.ts";
import { admin, type Client, client, signIn } from "../../testkit/clients.ts";
import { metered } from "../../testkit/metered.ts";

const SEED = Number(process.env.TALLY_SEED ?? Math.floor(Math.random() * 2 ** 31));
console.log(`account: TALLY_SEED=${SEED}`);

let made = 0;
/** Names of this test file alone. */
const unique = (name: string) => `${name}-${process.pid}-${made++}`;

const clients: Client[] = [];
afterAll(() => Promise.all(clients.map((one) => one.close())));

/** The app of a signed-in user. */
async function signedIn(uid: string): Promise<web.CounterRef["firestore"]> {
  const app = client();
  clients.push(app);
  await signIn(app, uid);
  return app.db;
}

/** Creates entries as clients do, on a shard each, without the time that it takes through the rules. */
async function countFor(uid: string, ids: readonly string[], by = 1, collection = "counters"): Promise<void> {
  const writer = admin.bulkWriter();
  for (const id of ids) {
    const shard = String(id.length % 3);
    void writer.create(admin.doc(`${collection}/${id}/tallyEntries/${uid}`), { once: uid, by, shard, at: new Date() });
    const shardWrite = { shard, count: FieldValue.increment(by), writes: FieldValue.increment(1) };
    void writer.set(admin.doc(`${collection}/${id}/shards/${shard}`), shardWrite, { merge: true });
  }
  await writer.close();
}

/** The exact total of a counter and the amounts of its entries, by `once`. */
async function stateOf(
  id: string,
  collection = "counters",
): Promise<{ total: number; entries: Record<string, number> }> {
  const { docs } = await admin.collection(`${collection}/${id}/tallyEntries`).get();
  return {
    total: await getExactTotal(counter(admin, id, { collection })),
    entries: Object.fromEntries(docs.map((entry) => [entry.id, entry.get("by")])),
  };
}

/** Each counter has exactly what its entries say. */
async function expectStates(expected: Record<string, Record<string, number>>, collection = "counters"): Promise<void> {
  const states = await Promise.all(Object.keys(expected).map(async (id) => [id, await stateOf(id, collection)]));
  const wanted = Object.entries(expected).map(([id, entries]) => [
    id,
    { total: Object.values(entries).reduce((sum, by) => sum + by, 0), entries },
  ]);
  expect(Object.fromEntries(states)).toEqual(Object.fromEntries(wanted));
}

/** Ids of counters. */
const range = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}-${n}`);

/** Counters without functions, because hundreds of publishes would hold up other tests. */
const collection = unique("silent");

describe("undoIncrementsOf", () => {
  test("undoes likes, votes and takes that clients have made, and nothing of others; repeated, it finds nothing", async () => {
    const [ada, bob] = [unique("ada"), unique("bob")];
    const [likes, votes, tickets] = [unique("likes:a"), unique("votes:a"), unique("tickets:a")] as const;
    await ensureCounter(counter(admin, tickets), { bounded: true, initial: 10 });
    for (const uid of [ada, bob]) {
      const db = await signedIn(uid);
      for (const id of [likes, votes]) await web.incrementCounter(web.counter(db, id), 1, { once: uid });
      await web.takeFromCounter(web.counter(db, tickets), 3, { once: uid });
    }
    await takeFromCounter(counter(admin, tickets), 2, { once: "order1" });
    const calls: [number, number][] = [];
    const onProgress = (done: number, all: number) => calls.push([done, all]);
    expect(await undoIncrementsOf(admin, ada, { onProgress })).toBe(3);
    expect(calls).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ]);
    await expectStates({ [likes]: { [bob]: 1 }, [votes]: { [bob]: 1 } });
    expect(await stateOf(tickets)).toEqual({ total: 5, entries: { [bob]: -3, order1: -2 } });
    expect(await undoIncrementsOf(admin, ada)).toBe(0);
  });

  test("undoes an entry once if the answer is lost, or if its user undoes it or likes again first", async () => {
    const uid = unique("ada");
    const db = await signedIn(uid);
    const id = unique("likes:raced");
    const likes = web.counter(db, id);
    const like = () => web.incrementCounter(likes, 1, { once: uid });
    const unlike = () => web.undoIncrement(likes, uid);
    await like();
    await undoIncrementsOf(
      losingFirstAnswer(admin, async () => {}),
      uid,
    );
    await expectStates({ [id]: {} });
    await like();
    await undoIncrementsOf(losingFirstAnswer(admin, like), uid);
    await expectStates({ [id]: {} });
    await like();
    await undoIncrementsOf(beforeFirstCommit(admin, unlike), uid);
    await expectStates({ [id]: {} });
    await like();
    const again = async () => {
      await unlike();
      await like();
    };
    await undoIncrementsOf(beforeFirstCommit(admin, again), uid);
    await expectStates({ [id]: {} });
  });

  test("leaves the app's own collections, other collections of counters, and documents of another id alone", async () => {
    const uid = unique("ada");
    const others = [
      `diaries/${uid}/tallyEntries/${uid}`,
      `entries/${uid}`,
      `apps/x/counters/y/tallyEntries/${uid}`,
      `counters/diary/pages/1/tallyEntries/${uid}`,
      `counters/diary/tallyEntries/of-${uid}`,
    ];
    for (const path of others) await admin.doc(path).set({ once: uid, by: 1, shard: "0" });
    const [here, there] = [unique("sales:here"), unique("sales:there")];
    const elsewhere = { collection: "tallies" };
    await incrementCounter(counter(admin, here), 2.5, { once: uid });
    await incrementCounter(counter(admin, there, elsewhere), 7, { once: uid });
    expect(await undoIncrementsOf(admin, uid)).toBe(1);
    await expectStates({ [here]: {} });
    expect(await getExactTotal(counter(admin, there, elsewhere))).toBe(7);
    expect(await undoIncrementsOf(admin, uid, elsewhere)).toBe(1);
    expect(await getExactTotal(counter(admin, there, elsewhere))).toBe(0);
    for (const path of others) expect((await admin.doc(path).get()).exists, path).toBe(true);
  });

  test("undoes all but what would lower a bounded counter, and then says so", async () => {
    const uid = unique("seller");
    const stock = counter(admin, unique("stock:a"));
    // More than a page, and most of them after the counter that is refused.
    const likes = [unique("likes:x"), ...range(60, unique("votes:z"))];
    await ensureCounter(stock, { bounded: true, initial: 5 });
    await incrementCounter(stock, 10, { once: uid });
    await countFor(uid, likes);
    await expect(undoIncrementsOf(admin, uid)).rejects.toMatchObject({ code: "counter/bounded" });
    await expectStates(Object.fromEntries(likes.map((id) => [id, {}])));
    expect(await getExactTotal(stock)).toBe(15);
    await deleteCounter(stock);
    expect(await undoIncrementsOf(admin, uid)).toBe(0);
  });

  test("refuses a `once` or a collection that cannot be one", async () => {
    for (const once of ["", "a/b", undefined, null])
      await expect(undoIncrementsOf(admin, once as string)).rejects.toMatchObject({ code: "counter/invalid-once" });
    const wrong = { code: "counter/invalid-collection" };
    await expect(undoIncrementsOf(admin, "ada", { collection: "a/b" })).rejects.toMatchObject(wrong);
  });
});

test("I6: undoing and moving take no lock, and cost the documented reads, writes and deletes", async () => {
  const { firestore, usedBy, calls, close } = await metered();
  const [guest, ada] = [unique("guest"), unique("ada")];
  const ids = range(4, unique("likes:paid"));
  const move = () => moveIncrements(firestore, guest, ada);
  await countFor(guest, ids);
  expect(await usedBy(move)).toEqual({ reads: 4, writes: 4, deletes: 4 });
  await countFor(guest, ids);
  expect(await usedBy(move)).toEqual({ reads: 12, writes: 4, deletes: 4 });
  expect(await usedBy(move)).toEqual({ reads: 1, writes: 0, deletes: 0 });
  expect(await usedBy(() => undoIncrementsOf(firestore, ada))).toEqual({ reads: 8, writes: 4, deletes: 4 });
  expect(calls.get("transaction")).toBeUndefined();
  await close();
});

describe("moveIncrements", () => {
  test("moves what the new account lacks without a change of the total, undoes the rest, and lets it be undone", async () => {
    const [guest, ada] = [unique("guest"), unique("ada")];
    const [both, old, tickets] = [unique("likes:both"), unique("likes:old"), unique("tickets:a")] as const;
    await ensureCounter(counter(admin, tickets), { bounded: true, initial: 10 });
    const [guestDb, adaDb] = [await signedIn(guest), await signedIn(ada)];
    for (const id of [both, old]) await web.incrementCounter(web.counter(guestDb, id), 1, { once: guest });
    await web.takeFromCounter(web.counter(guestDb, tickets), 4, { once: guest });
    await web.incrementCounter(web.counter(adaDb, both), 1, { once: ada });
    const shard = (await admin.doc(`counters/${old}/tallyEntries/${guest}`).get()).get("shard");
    expect(await moveIncrements(admin, guest, ada)).toEqual({ moved: 2, undone: 1 });
    await expectStates({ [both]: { [ada]: 1 }, [old]: { [ada]: 1 } });
    expect(await stateOf(tickets)).toEqual({ total: 6, entries: { [ada]: -4 } });
    const moved = (await admin.doc(`counters/${old}/tallyEntries/${ada}`).get()).data();
    expect(moved).toEqual({ once: ada, by: 1, shard, at: expect.anything() });
    expect(await moveIncrements(admin, guest, ada)).toEqual({ moved: 0, undone: 0 });
    // The new account has what the old one had: it likes no second time, takes no more, and undoes each.
    await web.incrementCounter(web.counter(adaDb, old), 1, { once: ada });
    expect(await web.takeFromCounter(web.counter(adaDb, tickets), 2, { once: ada })).toBe(4);
    await web.undoIncrement(web.counter(guestDb, old), guest);
    await expectStates({ [old]: { [ada]: 1 } });
    for (const id of [both, old, tickets]) await web.undoIncrement(web.counter(adaDb, id), ada);
    await expectStates({ [both]: {}, [old]: {} });
    expect(await stateOf(tickets)).toEqual({ total: 10, entries: {} });
    await web.incrementCounter(web.counter(adaDb, old), 1, { once: ada });
    expect(await undoIncrementsOf(admin, ada)).toBe(1);
  });

  test("moves several hundred entries, half of them overlapping, cut in the middle and repeated", {
    tags: "deep",
  }, async () => {
    const [guest, ada] = [unique("guest"), unique("ada")];
    const ids = range(240, unique("likes:page"));
    const overlap = ids.filter((_, n) => n % 2 === 0);
    await countFor(guest, ids, 1, collection);
    await countFor(ada, overlap, 1, collection);
    let commits = 0;
    const crashing = aroundCommits(admin, async (commit) => {
      // Before some commits and after others, and for good.
      if (++commits > 90 && commits % 2 === 0) await commit();
      if (commits > 90) throw Object.assign(new Error("crashed"), { code: 16 });
      return await commit();
    });
    await expect(moveIncrements(crashing, guest, ada, { collection })).rejects.toThrow("crashed");
    const left = await admin.collectionGroup("tallyEntries").where("once", "==", guest).count().get();
    expect(left.data().count).toBeGreaterThan(0);
    expect(left.data().count).toBeLessThan(240);
    const { moved, undone } = await moveIncrements(admin, guest, ada, { collection });
    expect(moved + undone).toBe(left.data().count);
    await expectStates(Object.fromEntries(ids.map((id) => [id, { [ada]: 1 }])), collection);
  });

  test("moves once if the answer is lost, or if either account counts or undoes before the commit", async () => {
    const [guest, ada] = [unique("guest"), unique("ada")];
    const [guestDb, adaDb] = [await signedIn(guest), await signedIn(ada)];
    const id = unique("likes:raced");
    const call = (uid: string, db: web.CounterRef["firestore"]) => ({
      like: () => web.incrementCounter(web.counter(db, id), 1, { once: uid }),
      unlike: () => web.undoIncrement(web.counter(db, id), uid),
    });
    const [old, now] = [call(guest, guestDb), call(ada, adaDb)];
    const nothing = async () => {};
    let commits = 0;
    const refusedOnce = aroundCommits(admin, async (commit) => {
      if (commits++ === 0) throw Object.assign(new Error("refused"), { code: 9 });
      return await commit();
    });
    const cases: [name: string, firestore: typeof admin, likes: number][] = [
      ["the answer is lost", losingFirstAnswer(admin, nothing), 1],
      ["… and the new account undoes", losingFirstAnswer(admin, now.unlike), 0],
      ["… and the old account likes again", losingFirstAnswer(admin, old.like), 1],
      ["the old account undoes", beforeFirstCommit(admin, old.unlike), 0],
      ["the old account likes anew", beforeFirstCommit(admin, () => old.unlike().then(old.like)), 1],
      ["a commit is refused though nothing has changed", refusedOnce, 1],
      ["the new account likes", beforeFirstCommit(admin, now.like), 1],
    ];
    for (const [name, firestore, likes] of cases) {
      await old.like();
      await moveIncrements(firestore, guest, ada);
      expect(await stateOf(id), name).toEqual({ total: likes, entries: likes === 1 ? { [ada]: 1 } : {} });
      await now.unlike();
    }
  });

  test("while both accounts like and unlike and two servers move, each total is the number of its entries", async () => {
    const random = randomFor(SEED, "account");
    const [guest, ada] = [unique("guest"), unique("ada")];
    const ids = range(8, unique("likes:both"));
    const apps = await Promise.all([guest, ada].map(async (uid) => ({ uid, db: await signedIn(uid) })));
    let clicks = 0;
    const clicking = apps.map(async ({ uid, db }) => {
      for (let n = 0; n < 60; n++) {
        const ref = web.counter(db, random.pick(ids));
        const call = random.chance(0.6) ? web.incrementCounter(ref, 1, { once: uid }) : web.undoIncrement(ref, uid);
        await call.then(
          () => clicks++,
          // A move in between, which the client cannot tell from a rule.
          (error) => expect(error).toMatchObject({ code: "counter/permission-denied" }),
        );
      }
    });
    let isClicking = true;
    const moving = [1, 2].map(async () => {
      while (isClicking) await moveIncrements(admin, guest, ada);
    });
    await Promise.all(clicking);
    isClicking = false;
    await Promise.all(moving);
    // The emulator's queries may lag behind the last commits.
    for (let found = 1; found > 0; ) {
      const { moved, undone } = await moveIncrements(admin, guest, ada);
      found = moved + undone;
    }
    expect(clicks).toBeGreaterThan(60);
    for (const id of ids) {
      const { total, entries } = await stateOf(id);
      expect([total, Object.keys(entries)], `seed ${SEED}: ${id}`).toEqual(
        Object.keys(entries).length === 0 ? [0, []] : [1, [ada]],
      );
    }
  });

  test("refuses to move a `once` to itself, and keeps what it has counted", async () => {
    const id = unique("sales:a");
    await incrementCounter(counter(admin, id), 3, { once: "ada" });
    await expect(moveIncrements(admin, "ada", "ada")).rejects.toMatchObject({ code: "counter/invalid-once" });
    await expect(moveIncrements(admin, "ada", "")).rejects.toMatchObject({ code: "counter/invalid-once" });
    await expectStates({ [id]: { ada: 3 } });
  });
});
