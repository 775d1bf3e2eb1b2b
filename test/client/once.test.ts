/**
 * Increments with `once` of signed-in users, with the rules, over connections that are cut between commit and acknowledgement.
 * `test/simulation` has calls in any order, of many users.
 */
import { setTimeout as sleep } from "node:timers/promises";
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
import { admin, type Client, client, signIn } from "../../testkit/clients.ts";
import { startProxy } from "../../testkit/grpcProxy.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";
import { type CuttingProxy, cuttingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";

/** One user's app on one device, with a connection that can be cut. */
interface Device {
  readonly client: Client;
  readonly uid: string;
  readonly proxy: CuttingProxy;
}

async function device(uid: string): Promise<Device> {
  const proxy = await cuttingProxy(process.env.FIRESTORE_EMULATOR_HOST as string);
  const app = client(proxy.address);
  return { client: app, proxy, uid: await signIn(app, uid) };
}

let made = 0;
/** The counter of a post without likes. */
const newPost = () => `likes:post-${process.pid}-${made++}`;

/**
 * A post whose counter has several shards, so that devices rarely choose the same shard.
 *
 * @param growing  whether it has just grown: then the first like of a device is sent in a transaction instead of the queue
 */
async function newBusyPost(growing: boolean, shards = 8): Promise<string> {
  const id = newPost();
  const asOf = Timestamp.now();
  // With a reservation, so that no publish lowers the shard count.
  const reservation = { shards, until: Timestamp.fromMillis(asOf.toMillis() + 3_600_000) };
  await admin
    .doc(`counters/${id}`)
    .set({ total: 0, writes: 0, group: "likes", shardCount: shards, growing, asOf, reservation });
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

/**
 * Lets a device like, and cuts its connection between commit and acknowledgement. The stream of writes is opened before,
 * because its handshake must not be withheld; a refused write, such as a replay, closes the stream again.
 */
async function likeCut(device: Device, id: string): Promise<void> {
  // Then the like does not wait for a read, whose answer would be withheld.
  await getCounter(on(device, id));
  await openStream(device);
  device.proxy.withhold();
  const done = like(on(device, id), device);
  await until(() => isEntered(id, device.uid), "the commit");
  device.proxy.cut();
  await done;
}

/** As `likeCut`, on a device that watches the entry, because the read of the entry must not be withheld either. */
async function unlikeCut(device: Device, id: string): Promise<void> {
  const heart = await showHeart(device, id);
  // The server answers the first time, the watch from then on.
  await until(async () => (await getIncremented(on(device, id), device.uid)) && heart.isFilled(), "the heart to fill");
  await openStream(device);
  device.proxy.withhold();
  const done = unlike(on(device, id), device);
  await until(async () => !(await isEntered(id, device.uid)), "the commit");
  device.proxy.cut();
  await done;
  await until(() => !heart.isFilled(), "the heart to empty");
  heart.stop();
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

describe("I8: one user on two devices", () => {
  let [phone, laptop]: Device[] = [];
  beforeAll(async () => {
    const uid = `user-${process.pid}`;
    phone = await device(uid);
    laptop = await device(uid);
  });
  afterAll(async () => {
    for (const { client, proxy } of both()) {
      await client.close();
      await proxy.close();
    }
  });
  const both = () => [phone, laptop] as [Device, Device];

  test("I8: simultaneous likes on both count once, and both calls resolve", async () => {
    for (const growing of [true, false]) {
      const id = await newBusyPost(growing);
      await Promise.all(both().map((device) => like(on(device, id), device)));
      expect([await sumOfIncrements(id), await entries(id)]).toEqual([1, 1]);
    }
  });

  test("I8: the replay of a committed like whose acknowledgement was lost: success, counted once", async () => {
    const [device] = both();
    for (const growing of [true, false]) {
      const id = await newBusyPost(growing);
      await likeCut(device, id);
      expect([await sumOfIncrements(id), await entries(id)]).toEqual([1, 1]);
    }
  });

  test("I8: the replay of a committed unlike whose acknowledgement was lost: success, counted once", async () => {
    const [device] = both();
    for (const growing of [true, false]) {
      const id = await newBusyPost(growing);
      await like(on(device, id), device);
      await unlikeCut(device, id);
      expect([await sumOfIncrements(id), await entries(id)]).toEqual([0, 0]);
    }
  });

  test("I8: a like and an unlike made offline count 0 when the device is online again, and both calls resolve", async () => {
    const [device] = both();
    const { db } = device.client;
    const id = await newBusyPost(false);
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

test("I8: likes of a new post are shown before the server has them, and no longer if it refuses them", async () => {
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

test("I8: a like that another device has made, and an unlike right after it, which is committed before the refusal is looked up: both resolve", async () => {
  const proxy = await startProxy(process.env.FIRESTORE_EMULATOR_HOST as string, [
    // The look-up is a read of a transaction.
    (method) => (method === "BatchGetDocuments" ? { request: () => sleep(300) } : undefined),
  ]);
  const [app, other] = [client(proxy.address), client()];
  const once = await signIn(app);
  await signIn(other, once);
  const likes = counter(app.db, await newBusyPost(false, 1));
  // Calls after the first go to the queue, so the unlike waits for none.
  await incrementCounter(likes, 1, { once });
  await undoIncrement(likes, once);
  await incrementCounter(counter(other.db, likes.id), 1, { once });
  await Promise.all([incrementCounter(likes, 1, { once }), undoIncrement(likes, once)]);
  expect([await sumOfIncrements(likes.id), await entries(likes.id)]).toEqual([0, 0]);
  await app.close();
  await other.close();
  proxy.close();
});
