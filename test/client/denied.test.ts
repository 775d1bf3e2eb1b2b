/** The error of a refused increment names the policy functions of `firestore.rules` for its case, and what to pass. */
import { type CounterRef, counter, incrementCounter } from "firestore-tally";
import { afterAll, beforeAll, expect, test } from "vitest";
import { client, signIn } from "../../testkit/clients.ts";
import { sumOfShards } from "../../testkit/storedCounter.ts";

const [user, visitor] = [client(), client()];
let uid: string;
beforeAll(async () => {
  uid = await signIn(user);
});
afterAll(() => Promise.all([user.close(), visitor.close()]));

const plain = "isAllowedAmount must allow it, or pass { key: uid }";
const keyed = "the key must be the uid, isKeyed must name the group, isAllowedKeyedAmount must allow it";

async function expectDenied(increment: Promise<void>, by: number, ref: CounterRef, advice: string): Promise<void> {
  await expect(increment).rejects.toMatchObject({
    code: "counter/permission-denied",
    message: `counter/permission-denied: firestore.rules refuse ${by} for "${ref.id}"; ${advice}`,
  });
  expect(await sumOfShards(ref.id)).toBe(0);
}

test("a plain amount that isAllowedAmount refuses", async () => {
  const ref = counter(user.db, "views:denied");
  await expectDenied(incrementCounter(ref, 5), 5, ref, plain);
});

test("a plain increment of a keyed group: pass a key", async () => {
  const ref = counter(user.db, "likes:denied-plain");
  await expectDenied(incrementCounter(ref), 1, ref, plain);
});

test("a keyed amount that isAllowedKeyedAmount refuses", async () => {
  const ref = counter(user.db, "likes:denied-amount");
  await expectDenied(incrementCounter(ref, 5, { key: uid }), 5, ref, keyed);
});

test("a keyed increment of a group that isKeyed does not name", async () => {
  const ref = counter(user.db, "views:denied-keyed");
  await expectDenied(incrementCounter(ref, 1, { key: uid }), 1, ref, keyed);
});

test("a key that is not the uid of the signed-in user, and a user who is signed out", async () => {
  const ref = counter(user.db, "likes:denied-other");
  await expectDenied(incrementCounter(ref, 1, { key: "another-user" }), 1, ref, keyed);
  const signedOut = counter(visitor.db, ref.id);
  await expectDenied(incrementCounter(signedOut, 1, { key: uid }), 1, signedOut, keyed);
});

test("a key that counts with another amount: undo that first", async () => {
  const ref = counter(user.db, "votes:denied-change");
  await incrementCounter(ref, 1, { key: uid });
  await expect(incrementCounter(ref, -1, { key: uid })).rejects.toMatchObject({
    code: "counter/permission-denied",
    message: `counter/permission-denied: firestore.rules refuse -1 for "${ref.id}"; the key counts 1, undo that first`,
  });
  expect(await sumOfShards(ref.id)).toBe(1);
});
