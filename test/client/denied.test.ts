/** The error of a refused increment names the policy functions of `firestore.rules` for its case, and what to pass. */
import { Timestamp } from "firebase-admin/firestore";
import { type CounterRef, counter, incrementCounter, takeFromCounter } from "firestore-tally";
import { afterAll, expect, test } from "vitest";
import { admin, type Client, client, signIn } from "../../testkit/clients.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";

const [user, visitor] = [client(), client()];
const uid = await signIn(user);
afterAll(() => Promise.all([user.close(), visitor.close()]));

const plain =
  "isOpen must name the group, isAllowedAmount allow it; if countsOncePerUser or isBounded names it, pass { once: uid }";
const once = "countsOncePerUser must name the group, isAllowedOnceAmount must allow it";
const isOther = "sign in, once must be the uid";
const noBlock = "mayReadCounter must allow it, or Tally's block is missing";
const full = "the shard is full, of marks or at 2^53";

const refusals: Record<string, [by: Client, id: string, amount: number, options: { once?: string }, advice: string]> = {
  "a plain amount that isAllowedAmount refuses": [user, "views:denied", 5, {}, plain],
  "a plain increment of a group that counts once per user: pass `once`": [user, "likes:denied-plain", 1, {}, plain],
  "a plain increment of stock": [user, "stock:denied", 1, {}, plain],
  "an amount with `once` that isAllowedOnceAmount refuses": [user, "likes:denied-amount", 5, { once: uid }, once],
  "`once` in a group that countsOncePerUser does not name": [user, "views:denied-once", 1, { once: uid }, once],
  "a `once` that is not the uid of the user": [user, "likes:denied-other", 1, { once: "another-user" }, isOther],
  "a user who is signed out": [visitor, "likes:denied-other", 1, { once: uid }, isOther],
};
test.each(Object.entries(refusals))("%s", async (_, [{ db }, id, amount, options, advice]) => {
  await expect(incrementCounter(counter(db, id), amount, options as { once: string })).rejects.toMatchObject({
    code: "counter/permission-denied",
    message: `counter/permission-denied: firestore.rules refuse ${amount} for "${id}"; ${advice}`,
  });
  expect(await sumOfIncrements(id)).toBe(0);
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

/** Fills all slots of a counter's first shard, as a script may. */
async function fill({ path }: CounterRef): Promise<void> {
  const nonces = Array.from({ length: 3_000 }, (_, n) => Buffer.from([0, 0, 0, n >> 8, n & 255]));
  const marks = Object.fromEntries([..."01234"].map((slot) => [slot, { at: Timestamp.now(), nonces }]));
  await admin.doc(`${path}/shards/0`).set({ shard: "0", count: 0, writes: 1, marks });
}

test("not for a shard that is full of marks: the increment counts on another one, within seconds", async () => {
  const likes = counter(user.db, "votes:denied-full");
  // The group needs the functions, so its increments are on shards.
  const plain = counter(visitor.db, "slots:denied-full");
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
