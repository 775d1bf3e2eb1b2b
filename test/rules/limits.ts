/** Rate limits: what a use of a limit pays for, and what clients may write to their limit documents. */
import { describe, expect, test } from "vitest";
import { accepts, db, hides, newCounter, newUser, read, refuses, shows, store } from "./environment.ts";
import { slotsOf } from "./fuzz/values.ts";
import type { Value } from "./rest.ts";
import {
  add,
  ago,
  bytes,
  DELETED,
  directIncrement,
  increment,
  like,
  merge,
  NOW,
  nonce,
  remove,
  SLOT,
  set,
  slot,
  unlike,
  update,
} from "./writes.ts";

const DAY = 86_400;
const limitOf = (user: string, name = "notes") => `tallyLimits/${name}/tallyUses/${user}`;
const reference = (path: string): Value => ({ referenceValue: `${db.documents}/${path}` });
/** A document of the app that only this user writes. */
const noteOf = (user: string, id = "one") => set(`notes/${user}-${id}`, { text: "hello" });

/** A use of a slot for a document: its fields, some of them replaced. */
const paymentFor = (path: string, slot: number, changes: object = {}) => ({
  slot,
  slots: { [slot]: NOW },
  for: reference(path),
  expireAt: ago(-2 * DAY),
  ...changes,
});
const payment = (user: string, slot = 0, changes: object = {}) =>
  merge(limitOf(user), paymentFor(noteOf(user).path, slot, changes));

/** The server has these uses of a user. */
const used = (user: string, slots: object) =>
  store(limitOf(user), { slot: 0, slots, for: reference(noteOf(user).path), expireAt: ago(-DAY) });

describe.concurrent("a use of a rate limit", () => {
  test("pays for one write, burst times at once, and again when the slot has rested for burst × per / limit", async () => {
    const user = newUser();
    const note = noteOf(user);
    await accepts(user, payment(user), note);
    await accepts(user, note, payment(user, 1));
    for (const slot of [0, 1, 2]) await refuses(user, payment(user, slot), note);
    await used(user, { 0: ago(50), 1: ago(61) });
    await refuses(user, payment(user, 0), note);
    await accepts(user, payment(user, 1), note);
    await refuses(user, payment(user, 1), note);
  });

  test("is needed for each write, by the same user, and a signed-in one", async () => {
    const [user, other] = [newUser(), newUser()];
    const note = noteOf(user);
    await refuses(user, note);
    await refuses(null, note);
    for (const stranger of [null, other]) await refuses(stranger, payment(user), note);
    await accepts(user, payment(user));
    await refuses(user, note);
    // Nor does an old use of a free slot pay for another write of the same document.
    await used(user, { 0: ago(120) });
    await refuses(user, note);
  });

  test("pays for the document that it names, and no other", async () => {
    const user = newUser();
    const [one, two] = [noteOf(user), noteOf(user, "two")];
    await refuses(user, payment(user), two);
    await refuses(user, payment(user), one, two);
    await refuses(user, payment(user), one, payment(user, 1, { for: reference(two.path) }), two);
    for (const document of [reference("others/one"), one.path])
      await refuses(user, payment(user, 0, { for: document }), one);
  });

  test("pays for no delete", async () => {
    const user = newUser();
    await accepts(user, payment(user), noteOf(user));
    await refuses(user, payment(user, 1), remove(noteOf(user).path));
  });

  test.each([
    [1_000 * DAY + 1, refuses],
    [1_000 * DAY, accepts],
  ])("with a rest of %d ms pays only if the document stays as long", async (rest, outcome) => {
    const user = newUser();
    const diary = set(`diaries/${rest}`, { text: user });
    await outcome(user, merge(limitOf(user, "diaries"), paymentFor(diary.path, 0)), diary);
  });
});

describe.concurrent("a limit document", () => {
  test("is read by its own user, and neither listed nor deleted by any", async () => {
    const [user, other] = [newUser(), newUser()];
    const limit = limitOf(user);
    await used(user, { 0: ago(1) });
    await shows(limit, user);
    await hides(limit, null, other);
    await hides("tallyLimits/notes/tallyUses", null, user);
    const everywhere = { structuredQuery: { from: [{ collectionId: "tallyUses", allDescendants: true }] } };
    for (const one of [null, user, other]) {
      expect((await db.call(one, "POST", ":runQuery", everywhere)).status).toBe(403);
      await refuses(one, remove(limit));
      await refuses(one, set("tallyLimits/notes", { burst: 100 }));
      await refuses(one, set(`${limit}/slots/0`, { at: NOW }));
    }
  });

  test("is neither written nor read if the policy names no such limit", async () => {
    const user = newUser();
    await refuses(user, merge(limitOf(user, "junk"), paymentFor(noteOf(user).path, 0)));
    await hides(limitOf(user, "junk"), user);
  });

  test("is written by its own user: one slot, of 100 at most", async () => {
    const user = newUser();
    for (const slot of [0, 7, 99]) await accepts(user, payment(user, slot));
    for (const stranger of [null, newUser()]) await refuses(stranger, payment(user));
  });

  const forms: [what: string, changes: object][] = [
    ["another field", { burst: 5 }],
    ["a slot -1", { slot: -1, slots: { "-1": NOW } }],
    ["a slot 100", { slot: 100, slots: { 100: NOW } }],
    ["a slot 0.5", { slot: 0.5, slots: { 0.5: NOW } }],
    ["a slot '0'", { slot: "0" }],
    ["no slot", { slot: DELETED }],
    ["a slot 01", { slot: 1, slots: { "01": NOW } }],
    ["another slot than it says", { slots: { 1: NOW } }],
    ["two slots", { slots: { 0: NOW, 1: NOW } }],
    ["a map in the slot", { slots: { 0: { at: NOW } } }],
    ["a past time", { slots: { 0: ago(120) } }],
    ["a future time", { slots: { 0: ago(-120) } }],
    ["no time", { slots: {} }],
    ["slots that are none", { slots: "0" }],
    ["no slots", { slots: DELETED }],
    ["a document by its path", { for: "/databases/(default)/documents/notes/one" }],
    ["no document", { for: DELETED }],
    ["an end within a day", { expireAt: ago(60 - DAY) }],
    ["a past end", { expireAt: ago(DAY) }],
    ["an end that is no time", { expireAt: Date.now() + 2_000 * DAY }],
    ["an end after a year", { expireAt: ago(-365 * DAY - 3_600) }],
    ["no end", { expireAt: DELETED }],
  ];
  test.each(forms)("is refused with %s, whether it exists or not", async (_, changes) => {
    const user = newUser();
    await refuses(user, payment(user, 0, changes));
    await used(user, { 2: ago(120) });
    await refuses(user, payment(user, 0, changes));
    await refuses(user, payment(user, 0, changes), noteOf(user));
  });

  test("loses no slot, and keeps the times of others", async () => {
    const user = newUser();
    await used(user, { 0: ago(1), 1: ago(2) });
    const before = slotsOf(await read(limitOf(user)));
    await refuses(user, set(limitOf(user), paymentFor(noteOf(user).path, 2)));
    for (const time of [DELETED, ago(DAY)]) await refuses(user, payment(user, 2, { slots: { 2: NOW, 1: time } }));
    for (const changes of [{ slots: {} }, { expireAt: ago(-3 * DAY) }])
      await refuses(user, update(limitOf(user), changes));
    expect(slotsOf(await read(limitOf(user)))).toEqual(before);
  });
});

describe.concurrent("a counter whose increments are limited", () => {
  const claps = "counters/claps:talk";
  const pay = (user: string, slot: number, shard: string) => merge(limitOf(user, "claps"), paymentFor(shard, slot));

  test("is incremented with a use for its shard, and not without; others need none", async () => {
    const user = newUser();
    const [shard, another] = [`${claps}/shards/0`, `${claps}/shards/1`];
    for (const anyone of [null, user]) await refuses(anyone, increment(shard));
    await refuses(user, pay(user, 0, another), increment(shard));
    await accepts(user, pay(user, 0, shard), increment(shard));
    await refuses(user, pay(user, 0, shard), increment(shard));
    await accepts(user, pay(user, 1, shard), increment(shard));
    await accepts(user, increment(`${newCounter("claps")}/shards/0`));
  });

  test("is incremented in its document with a use for that, and not without", async () => {
    const user = newUser();
    await refuses(user, pay(user, 0, `${claps}/shards/0`), directIncrement(claps));
    await accepts(user, pay(user, 0, claps), directIncrement(claps));
    await refuses(user, pay(user, 0, claps), directIncrement(claps));
  });

  test("gets one increment for a use, even by two writes of a shard", async () => {
    const user = newUser();
    const [shard, another] = [`${claps}/shards/2`, `${claps}/shards/3`];
    const marks = { [SLOT]: slot(bytes(1, 1, 1, 1, 1), nonce()) };
    await refuses(user, pay(user, 0, shard), increment(shard, { count: add(2), writes: add(2), marks }));
    await refuses(user, pay(user, 0, shard), increment(shard), increment(another));
  });

  test("is incremented once per user, too, and its undo needs no use", async () => {
    const user = newUser();
    const votes = "counters/votes:limited";
    const shard = `${votes}/shards/0`;
    await refuses(user, ...like(votes, user));
    await accepts(user, ...like(votes, user), pay(user, 0, shard));
    await accepts(user, ...unlike(votes, user));
    await refuses(user, ...like(votes, user), pay(user, 0, shard));
  });
});
