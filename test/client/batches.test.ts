/** How many increments one batch or transaction may have: what the calls accept, the rules accept. */
import { runTransaction, writeBatch } from "firebase/firestore";
import { counter, incrementCounter, incrementCounterIn, prepareIncrement } from "firestore-tally";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Client, client, signIn } from "../../testkit/clients.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";

const full = expect.objectContaining({
  code: "counter/invalid-batch",
  message: expect.stringContaining("second batch"),
});

let owner: Client;
let app: Client;
let uid: string;
beforeAll(async () => {
  [owner, app] = [client(), client()];
  uid = await signIn(app);
  await signIn(owner);
});
afterAll(async () => {
  await Promise.all([owner.close(), app.close()]);
});

/** Seven counters that exist, and have the like of another user. */
async function likedPosts(name: string): Promise<string[]> {
  const other = await signIn(owner);
  const ids = Array.from({ length: 7 }, (_, n) => `likes:${name}${n}-${Date.now()}`);
  await Promise.all(ids.map((id) => incrementCounter(counter(owner.db, id), 1, { once: other })));
  return ids;
}

async function expectSixth(ids: readonly string[]): Promise<void> {
  const sums = await Promise.all(ids.map((id) => sumOfIncrements(id)));
  expect(sums).toEqual([2, 2, 2, 2, 2, 2, 1]);
}

test("a batch: six likes of counters that exist pass, and the seventh is told before any I/O", async () => {
  const ids = await likedPosts("batch");
  const batch = writeBatch(app.db);
  const add = (id: string) => incrementCounterIn(batch, counter(app.db, id), 1, { once: uid });
  ids.slice(0, 6).forEach(add);
  expect(() => add(ids[6] as string)).toThrow(full);
  await batch.commit();
  await expectSixth(ids);
});

test("a transaction: the same", async () => {
  const ids = await likedPosts("transaction");
  const likes = ids.map((id) => prepareIncrement(counter(app.db, id), 1, { once: uid }));
  const commit = (count: number) =>
    runTransaction(app.db, async (transaction) => {
      for (const like of likes.slice(0, count)) incrementCounterIn(transaction, like);
    });
  await expect(commit(7)).rejects.toEqual(full);
  await commit(6);
  await expectSixth(ids);
});
