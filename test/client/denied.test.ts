/** The error of a refused increment names the policy functions of `firestore.rules` for its case, and what to pass. */
import { Timestamp } from "firebase-admin/firestore";
import { type CounterRef, counter, incrementCounter, takeFromCounter } from "firestore-tally";
import { afterAll, beforeAll, expect, test } from "vitest";
import { admin, client, signIn } from "../../testkit/clients.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";

const [user, visitor] = [client(), client()];
let uid: string;
beforeAll(async () => {
  uid = await signIn(user);
});
afterAll(() => Promise.all([user.close(), visitor.close()]));

const plain =
  "isOpen must name the group, isAllowedAmount allow it; if countsOncePerUser or isBounded names it, pass { once: uid }";
const once = "countsOncePerUser must name the group, isAllowedOnceAmount must allow it";
const isOther = "sign in, once must be the uid";
const noBlock = "mayReadCounter must allow it, or Tally's block is missing";
const full = "the shard is full, of marks or at 2^53";

async function expectDenied(increment: Promise<void>, by: number, ref: CounterRef, advice: string): Promise<void> {
  await expect(increment).rejects.toMatchObject({
    code: "counter/permission-denied",
    message: `counter/permission-denied: firestore.rules refuse ${by} for "${ref.id}"; ${advice}`,
  });
  expect(await sumOfIncrements(ref.id)).toBe(0);
}

test("a plain amount that isAllowedAmount refuses", async () => {
  const ref = counter(user.db, "views:denied");
  await expectDenied(incrementCounter(ref, 5), 5, ref, plain);
});

test("a plain increment of a group that counts once per user: pass `once`", async () => {
  const ref = counter(user.db, "likes:denied-plain");
  await expectDenied(incrementCounter(ref), 1, ref, plain);
});

test("an amount with `once` that isAllowedOnceAmount refuses", async () => {
  const ref = counter(user.db, "likes:denied-amount");
  await expectDenied(incrementCounter(ref, 5, { once: uid }), 5, ref, once);
});

test("an increment with `once` of a group that countsOncePerUser does not name", async () => {
  const ref = counter(user.db, "views:denied-once");
  await expectDenied(incrementCounter(ref, 1, { once: uid }), 1, ref, once);
});

test("a `once` that is not the uid of the signed-in user, and a user who is signed out", async () => {
  const ref = counter(user.db, "likes:denied-other");
  await expectDenied(incrementCounter(ref, 1, { once: "another-user" }), 1, ref, isOther);
  const signedOut = counter(visitor.db, ref.id);
  await expectDenied(incrementCounter(signedOut, 1, { once: uid }), 1, signedOut, isOther);
});

test("an increment that counts with another amount: undo that first", async () => {
  const ref = counter(user.db, "votes:denied-change");
  await incrementCounter(ref, 1, { once: uid });
  await expect(incrementCounter(ref, -1, { once: uid })).rejects.toMatchObject({
    code: "counter/permission-denied",
    message: `counter/permission-denied: firestore.rules refuse -1 for "${ref.id}"; it counts 1, undo that first`,
  });
  expect(await sumOfIncrements(ref.id)).toBe(1);
});

test("a plain increment of stock", async () => {
  const ref = counter(user.db, "stock:denied");
  await expectDenied(incrementCounter(ref), 1, ref, plain);
});

test("rules without Tally's block for the collection: reads are refused, too", async () => {
  const ref = counter(user.db, "views:denied", { collection: "otherCounters" });
  await expect(incrementCounter(ref)).rejects.toMatchObject({ message: expect.stringContaining(noBlock) });
  const stock = counter(user.db, "stock:denied", { collection: "otherCounters" });
  await expect(takeFromCounter(stock, 1, { once: uid })).rejects.toMatchObject({
    code: "counter/permission-denied",
    message: expect.stringContaining(noBlock),
  });
});

test("a take by a user who is signed out", async () => {
  await admin.doc("counters/stock:denied-take/shards/0").set({ shard: "0", count: 5, writes: 1 });
  await expect(takeFromCounter(counter(visitor.db, "stock:denied-take"), 1, { once: uid })).rejects.toMatchObject({
    code: "counter/permission-denied",
    message: expect.stringContaining("sign in: once must be the user's uid"),
  });
});

test("a shard at its bound", async () => {
  const near = counter(user.db, "views:denied-bound");
  await admin.doc(`${near.path}/shards/0`).set({ shard: "0", count: 2 ** 53 - 1, writes: 1 });
  await expect(incrementCounter(near)).rejects.toMatchObject({ message: expect.stringContaining(full) });
});

/** Fills all windows of a counter's first shard, as a script may. */
async function fill({ path }: CounterRef): Promise<void> {
  const nonces = Array.from({ length: 3_000 }, (_, n) => Buffer.from([0, 0, 0, n >> 8, n & 255]));
  const marks = Object.fromEntries([..."01234"].map((window) => [window, { at: Timestamp.now(), nonces }]));
  await admin.doc(`${path}/shards/0`).set({ shard: "0", count: 0, writes: 1, marks });
}

test("not for a shard that is full of marks: the increment counts on another one, within seconds", async () => {
  const likes = counter(user.db, "votes:denied-full");
  // The group needs the functions, so its increments are on shards.
  const plain = counter(visitor.db, "windows:denied-full");
  await Promise.all([fill(likes), fill(plain)]);
  // A closed document: the functions have closed it, and the counter is quiet since.
  await admin.doc(likes.path).set({ total: 0, shardCount: 1, asOf: Timestamp.now(), direct: { open: false } });
  const begun = performance.now();
  for (let n = 1; n <= 14; n++) await incrementCounter(plain);
  await incrementCounter(likes, 1, { once: uid });
  expect(performance.now() - begun).toBeLessThan(20_000);
  expect(await sumOfIncrements(plain.id)).toBe(14);
  expect(await sumOfIncrements(likes.id)).toBe(1);
  await expect(incrementCounter(counter(visitor.db, "likes:denied-full"))).rejects.toMatchObject({
    message: expect.stringContaining("isOpen must name the group"),
  });
});
