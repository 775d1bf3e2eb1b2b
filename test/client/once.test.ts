/**
 * Increments with `once` of signed-in users, with the rules, over connections that are cut between commit and acknowledgement.
 * `TALLY_SEED=…` repeats the random choices, but not their timing.
 */
import { connectAuthEmulator, getAuth, signInWithCustomToken } from "firebase/auth";
import { disableNetwork, enableNetwork, writeBatch } from "firebase/firestore";
import { Timestamp } from "firebase-admin/firestore";
import {
  type CounterRef,
  counter,
  getCounter,
  getIncremented,
  incrementCounter,
  incrementCounterIn,
  onIncremented,
  undoIncrement,
} from "firestore-tally";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomFor } from "../../core/testing/random.ts";
import { admin, type Client, client, signIn } from "../../testkit/clients.ts";
import { governor } from "../../testkit/governor.ts";
import { startProxy } from "../../testkit/grpcProxy.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { type CuttingProxy, cuttingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";

const SEED = Number(process.env.TALLY_SEED ?? Math.floor(Math.random() * 2 ** 31));
const CLIENTS = 140;
const ACTIONS_EACH = 6;
/** The share of the changing actions whose connection is cut. */
const SHARE_CUT = 0.3;
/** The emulator's snapshots may miss commits of the last few milliseconds (see backend.ts). */
const MARGIN = 100;
/** How many clients start at the same time. */
const STARTED_TOGETHER = 20;

beforeAll(() => console.log(`once: TALLY_SEED=${SEED}`));

/** One user's app on one device, with a connection that can be cut. */
interface Device {
  readonly client: Client;
  readonly uid: string;
  readonly proxy: CuttingProxy;
}

const devices: Device[] = [];
afterAll(closeDevices);

/** @param uid  the user of the device; default: a new anonymous user */
async function device(uid?: string): Promise<Device> {
  const proxy = await cuttingProxy(process.env.FIRESTORE_EMULATOR_HOST as string);
  const app = client(proxy.address);
  const started = { client: app, proxy, uid: uid === undefined ? await signIn(app) : await signInAs(app, uid) };
  devices.push(started);
  return started;
}

async function closeDevices(): Promise<void> {
  await Promise.all(
    devices.splice(0).map(async ({ client, proxy }) => {
      await client.close();
      await proxy.close();
    }),
  );
}

async function signInAs({ app }: Client, uid: string): Promise<string> {
  const auth = getAuth(app);
  connectAuthEmulator(auth, `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}`, { disableWarnings: true });
  // The emulator takes an unsigned custom token.
  return (await signInWithCustomToken(auth, JSON.stringify({ uid }))).user.uid;
}

let made = 0;
/** The counter of a post without likes. */
const newPost = () => `likes:post-${process.pid}-${made++}`;

/**
 * A post whose counter has several shards, so that devices rarely choose the same shard.
 *
 * @param growing  whether it has just grown: then the first like of a device is sent in a transaction instead of the queue
 */
async function newBusyPost(shardCount = 8, growing = false): Promise<string> {
  const id = newPost();
  const asOf = Timestamp.now();
  // With a reservation, so that no publish lowers the shard count.
  const reservation = { shards: shardCount, until: Timestamp.fromMillis(asOf.toMillis() + 3_600_000) };
  await admin
    .doc(`counters/${id}`)
    .set({ total: 0, writes: 0, group: "likes", shardCount, growing, asOf, reservation });
  return id;
}

const on = ({ client: { db } }: Device, id: string): CounterRef => counter(db, id);
const like = (on: CounterRef, { uid }: Device) => incrementCounter(on, 1, { once: uid });
const unlike = (on: CounterRef, { uid }: Device) => undoIncrement(on, uid);

async function isEntered(id: string, uid: string): Promise<boolean> {
  return (await admin.doc(`counters/${id}/tallyEntries/${uid}`).get()).exists;
}

async function entries(id: string): Promise<number> {
  return (await admin.collection(`counters/${id}/tallyEntries`).get()).size;
}

/** @returns the sum of the shards and the number of entries, at one instant */
async function snapshot(id: string): Promise<[sum: number, entries: number]> {
  const readTime = Timestamp.fromMillis(Date.now() - MARGIN);
  return await admin.runTransaction(
    async (transaction) => {
      const shards = await transaction.get(admin.collection(`counters/${id}/shards`));
      const { size } = await transaction.get(admin.collection(`counters/${id}/tallyEntries`));
      return [shards.docs.reduce((sum, shard) => sum + shard.get("count"), 0), size];
    },
    { readOnly: true, readTime },
  );
}

/**
 * Lets a device like, and cuts its connection between commit and acknowledgement. The stream of writes is opened before,
 * because its handshake must not be withheld; a refused write, such as a replay, closes the stream again.
 *
 * @returns whether the like was committed before the cut: a busy server may ask for a retry, which is withheld, too
 */
async function likeCut(device: Device, id: string): Promise<boolean> {
  // Then the like does not wait for a read, whose answer would be withheld.
  await getCounter(on(device, id));
  await openStream(device);
  device.proxy.withhold();
  const done = like(on(device, id), device);
  const committed = await happensSoon(() => isEntered(id, device.uid));
  device.proxy.cut();
  await done;
  return committed;
}

/** As `likeCut`, on a device that watches the entry, because the read of the entry must not be withheld either. */
async function unlikeCut(device: Device, id: string): Promise<boolean> {
  const heart = await showHeart(device, id);
  // The server answers the first time, the watch from then on.
  await until(async () => (await getIncremented(on(device, id), device.uid)) && heart.isFilled(), "the heart to fill");
  await openStream(device);
  device.proxy.withhold();
  const done = unlike(on(device, id), device);
  const committed = await happensSoon(async () => !(await isEntered(id, device.uid)));
  device.proxy.cut();
  await done;
  await until(() => !heart.isFilled(), "the heart to empty");
  heart.stop();
  return committed;
}

async function happensSoon(condition: () => Promise<boolean>): Promise<boolean> {
  return await until(condition, "a commit", 5_000).then(
    () => true,
    () => false,
  );
}

/** An accepted write through the SDK's queue, which writes with `once` use, too. */
async function openStream({ client: { db }, uid }: Device): Promise<void> {
  const batch = writeBatch(db);
  incrementCounterIn(batch, counter(db, `opened:${uid}`));
  await batch.commit();
}

async function showHeart(device: Device, id: string) {
  let filled: boolean | undefined;
  const stop = onIncremented(on(device, id), device.uid, (liked) => {
    filled = liked;
  });
  await until(() => filled !== undefined, "a heart");
  return { isFilled: () => filled === true, stop };
}

test(`I8: ${CLIENTS} users like and unlike at random, with random cuts: the total is the number of users who like`, {
  tags: "deep",
  timeout: 180_000,
}, async () => {
  // With fewer shards, the test would measure the locks of the emulator.
  const id = await newBusyPost(100, true);
  const start = performance.now();
  const crowd: Device[] = [];
  while (crowd.length < CLIENTS) {
    crowd.push(...(await Promise.all(Array.from({ length: STARTED_TOGETHER }, () => device()))));
  }
  const ready = performance.now();

  let done = false;
  let snapshots = 0;
  const watching = (async () => {
    while (!done) {
      const [sum, entered] = await snapshot(id);
      expect(sum, `the sum at snapshot ${snapshots}`).toBe(entered);
      snapshots++;
    }
  })();

  let actions = 0;
  let cuts = 0;
  const beliefs = await Promise.all(
    crowd.map(async (device, n) => {
      const random = randomFor(SEED, `client ${n}`);
      const ref = on(device, id);
      await like(ref, device);
      let likes = true;
      for (let action = 1; action < ACTIONS_EACH; action++) {
        const liking = random.chance(0.5);
        const isCut = random.chance(SHARE_CUT) && liking !== likes;
        // The emulator's reads may miss the commits of the last milliseconds.
        await until(async () => (await getIncremented(ref, device.uid)) === likes, "one's own last action");
        if (!isCut) await (liking ? like(ref, device) : unlike(ref, device));
        else if (await (liking ? likeCut(device, id) : unlikeCut(device, id))) cuts++;
        expect(await isEntered(id, device.uid), `what ${n} did in action ${action}`).toBe(liking);
        likes = liking;
      }
      actions += ACTIONS_EACH;
      return likes;
    }),
  );
  done = true;
  await watching;
  const acted = performance.now();

  expect(cuts).toBeGreaterThan(CLIENTS / 4);
  const likes = beliefs.filter((likes) => likes).length;
  await until(async () => (await readPublished(id))?.total === likes, `a published total of ${likes}`);
  expect(await sumOfIncrements(id)).toBe(likes);
  expect(await entries(id)).toBe(likes);
  const entered = await Promise.all(crowd.map(({ uid }) => isEntered(id, uid)));
  expect(entered).toEqual(beliefs);
  const seconds = (from: number, to: number) => ((to - from) / 1_000).toFixed(1);
  console.log(
    `I8: ${CLIENTS} clients, ${actions} actions in ${seconds(ready, acted)} s, ${cuts} cuts after the commit, ` +
      `${likes} likes at the end, ${snapshots} snapshots (started in ${seconds(start, ready)} s)`,
  );
  await closeDevices();
});

describe("I8: one user on two devices", () => {
  let [phone, laptop]: Device[] = [];
  beforeAll(async () => {
    const uid = `user-${process.pid}`;
    phone = await device(uid);
    laptop = await device(uid);
  });
  const both = () => [phone, laptop] as [Device, Device];

  test("I8: simultaneous likes on both count once, and both calls resolve", async () => {
    for (const growing of [true, false]) {
      const id = await newBusyPost(8, growing);
      await Promise.all(both().map((device) => like(on(device, id), device)));
      expect([await sumOfIncrements(id), await entries(id)]).toEqual([1, 1]);
    }
  });

  test("I8: simultaneous likes and unlikes on both: the total is the number of entries, in whatever order", async () => {
    const random = randomFor(SEED, "two tabs");
    const refused: string[] = [];
    for (const growing of [true, false]) {
      const id = await newBusyPost(8, growing);
      await Promise.all(
        both().map(async (device) => {
          for (let action = 0; action < 4; action++) {
            const act = random.chance(0.5) ? like : unlike;
            await act(on(device, id), device).catch(({ code }) => refused.push(code));
          }
        }),
      );
      const count = await entries(id);
      expect(await sumOfIncrements(id)).toBe(count);
    }
    expect(refused.filter((code) => code !== "counter/permission-denied")).toEqual([]);
  });

  test("I8: the replay of a committed like whose acknowledgement was lost: success, counted once", async () => {
    const [device] = both();
    for (const growing of [true, false]) {
      const id = await newBusyPost(8, growing);
      expect(await likeCut(device, id)).toBe(true);
      expect([await sumOfIncrements(id), await entries(id)]).toEqual([1, 1]);
    }
  });

  test("I8: the replay of a committed unlike whose acknowledgement was lost: success, counted once", async () => {
    const [device] = both();
    for (const growing of [true, false]) {
      const id = await newBusyPost(8, growing);
      await like(on(device, id), device);
      expect(await unlikeCut(device, id)).toBe(true);
      expect([await sumOfIncrements(id), await entries(id)]).toEqual([0, 0]);
    }
  });

  test("I8: a like and an unlike made offline count 0 when the device is online again, and both calls resolve", async () => {
    const [device] = both();
    const { db } = device.client;
    const id = await newBusyPost();
    const heart = await showHeart(device, id);
    await disableNetwork(db);
    const liked = like(on(device, id), device);
    await until(heart.isFilled, "the heart");
    const unliked = unlike(on(device, id), device);
    await until(() => !heart.isFilled(), "the heart to empty");
    await enableNetwork(db);
    await Promise.all([liked, unliked]);
    heart.stop();
    expect([await sumOfIncrements(id), await entries(id)]).toEqual([0, 0]);
  });
});

describe("I8: likes of a new post", () => {
  test("are shown before the server has them, and no longer if it refuses them", async () => {
    let commit = Promise.withResolvers<void>();
    const request = () => commit.promise;
    const proxy = await startProxy(process.env.FIRESTORE_EMULATOR_HOST as string, [
      (method) => (method === "Commit" ? { request } : undefined),
    ]);
    const app = client(proxy.address);
    const once = await signIn(app);
    const watched = async () => {
      const likes = counter(app.db, newPost());
      const shown: boolean[] = [];
      const stop = onIncremented(likes, once, (liked) => shown.push(liked));
      await until(() => shown.length === 1, "the state before");
      return { likes, shown, stop };
    };
    const one = await watched();
    const refused = incrementCounter(one.likes, 2, { once });
    await until(() => one.shown.length === 2, "the refused like");
    commit.resolve();
    await expect(refused).rejects.toMatchObject({ code: "counter/permission-denied" });
    await until(() => one.shown.length === 3, "its refusal");

    commit = Promise.withResolvers();
    const other = await watched();
    const liked = incrementCounter(other.likes, 1, { once });
    await until(() => other.shown.length === 2, "the like");
    expect(await entries(other.likes.id)).toBe(0);
    commit.resolve();
    await liked;
    // Before the watch has heard of the like.
    await undoIncrement(other.likes, once);
    await until(() => other.shown.length === 3, "the unlike");
    expect(await getIncremented(other.likes, once)).toBe(false);
    for (const { shown, stop } of [one, other]) {
      expect(shown).toEqual([false, true, false]);
      stop();
    }
    await app.close();
    proxy.close();
  });

  test("and unlikes take effect in their order, though no call waits for another", { tags: "deep" }, async () => {
    const { governed, inspection } = governor({ perSecond: 2, burst: 1, longestWait: 0 });
    const proxy = await startProxy(process.env.FIRESTORE_EMULATOR_HOST as string, [inspection], { latency: 20 });
    const app = client(proxy.address);
    const once = await signIn(app);
    for (const [calls, count] of [
      ["+-+", 1],
      ["++--", 0],
      ["++-+", 1],
    ] as const) {
      const likes = counter(app.db, newPost());
      const call = (one: string) => (one === "+" ? incrementCounter(likes, 1, { once }) : undoIncrement(likes, once));
      await Promise.all([...calls].map(call));
      expect([await sumOfIncrements(likes.id), await entries(likes.id)], calls).toEqual([count, count]);
    }
    expect(governed.aborted).toBeGreaterThan(0);
    await app.close();
    proxy.close();
  });
});

test("I8: two overlapping unlikes of a contended shard both succeed", { tags: "deep" }, async () => {
  const { governed, inspection } = governor({ perSecond: 0.5, burst: 1, longestWait: 0 });
  const proxy = await startProxy(process.env.FIRESTORE_EMULATOR_HOST as string, [inspection]);
  const app = client(proxy.address);
  const once = await signIn(app);
  const likes = counter(app.db, newPost());
  await incrementCounter(likes, 1, { once });
  const first = undoIncrement(likes, once);
  await until(() => governed.aborted > 0, "the refusal of the first unlike");
  await Promise.all([first, undoIncrement(likes, once)]);
  expect([await sumOfIncrements(likes.id), await entries(likes.id)]).toEqual([0, 0]);
  await app.close();
  proxy.close();
});
