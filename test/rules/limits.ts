/** Rate limits: what a use of a limit pays for, and what clients may write to their limit documents. */
import { assertFails, assertSucceeds } from "@firebase/rules-unit-testing";
import {
  collection,
  collectionGroup,
  deleteDoc,
  deleteField,
  doc,
  type Firestore,
  getDoc,
  getDocs,
  increment,
  serverTimestamp,
  setDoc,
  Timestamp,
  updateDoc,
  type WriteBatch,
  writeBatch,
} from "firebase/firestore";
import { describe, expect, test } from "vitest";
import {
  alice,
  anyone,
  bob,
  bytes,
  entry,
  environment,
  incrementData,
  merge,
  NOW,
  nonce,
  shard,
  window,
  writeAsAdmin,
} from "./environment.ts";

const DAY = 86_400_000;
const ago = (millis: number) => Timestamp.fromMillis(Date.now() - millis);
const note = (db: Firestore, id = "one") => doc(db, `notes/${id}`);
const limit = (db: Firestore, name = "notes", uid = "alice") => doc(db, `clientLimits/${name}/keys/${uid}`);

/** A valid use of a slot for `notes/one`, with some fields replaced. */
const limitData = (db: Firestore, slot = 0, changes: object = {}) => ({
  slot,
  slots: { [slot]: serverTimestamp() },
  for: note(db),
  expireAt: ago(-2 * DAY),
  ...changes,
});

function commit(db: Firestore, ...writes: ((batch: WriteBatch) => unknown)[]): Promise<void> {
  const batch = writeBatch(db);
  for (const write of writes) write(batch);
  return batch.commit();
}
const withUse = (db: Firestore, slot = 0, changes: object = {}) => {
  return (batch: WriteBatch) => batch.set(limit(db), limitData(db, slot, changes), merge);
};
const withNote = (db: Firestore, id?: string) => (batch: WriteBatch) => batch.set(note(db, id), { text: "hello" });

/** What the server has of the uses of alice. */
const used = (slots: object, changes: object = {}) =>
  writeAsAdmin("clientLimits/notes/keys/alice", { slot: 0, slots, for: note(alice), expireAt: ago(-DAY), ...changes });

describe("a use of a rate limit", () => {
  test("pays for one write, burst times at once, and again when the slot has rested for burst × interval", async () => {
    await assertSucceeds(commit(alice, withUse(alice), withNote(alice)));
    await assertSucceeds(commit(alice, withNote(alice), withUse(alice, 1)));
    for (const slot of [0, 1, 2]) await assertFails(commit(alice, withUse(alice, slot), withNote(alice)));
    await used({ 0: ago(59_000), 1: ago(61_000) });
    await assertFails(commit(alice, withUse(alice, 0), withNote(alice)));
    await assertSucceeds(commit(alice, withUse(alice, 1), withNote(alice)));
    await assertFails(commit(alice, withUse(alice, 1), withNote(alice)));
  });

  test("is needed for each write, by the same user, and a signed-in one", async () => {
    await assertFails(commit(alice, withNote(alice)));
    await assertFails(commit(anyone, withNote(anyone)));
    await assertFails(commit(anyone, withUse(anyone), withNote(anyone)));
    await assertFails(commit(bob, withUse(bob), withNote(bob)));
    await assertSucceeds(commit(alice, withUse(alice)));
    await assertFails(commit(alice, withNote(alice)));
    // Nor does an old use of a free slot pay for another write of the same document.
    await used({ 0: ago(120_000) });
    await assertFails(commit(alice, withNote(alice)));
  });

  test("pays for the document that it names, and no other", async () => {
    await assertFails(commit(alice, withUse(alice), withNote(alice, "two")));
    await assertFails(commit(alice, withUse(alice), withNote(alice), withNote(alice, "two")));
    const second = withUse(alice, 1, { for: note(alice, "two") });
    await assertFails(commit(alice, withUse(alice), withNote(alice), second, withNote(alice, "two")));
    const other = { for: doc(alice, "others/one") };
    await assertFails(commit(alice, withUse(alice, 0, other), withNote(alice)));
    await assertFails(commit(alice, withUse(alice, 0, { for: "notes/one" }), withNote(alice)));
  });

  test("pays for no delete", async () => {
    await assertSucceeds(commit(alice, withUse(alice), withNote(alice)));
    await assertFails(commit(alice, withUse(alice, 1), (batch) => batch.delete(note(alice))));
  });

  test("does not pay where burst × interval is longer than the document stays", async () => {
    const write = (interval: number) => {
      const diary = doc(alice, `diaries/${interval}`);
      const pay = (batch: WriteBatch) => batch.set(limit(alice, "diaries"), limitData(alice, 0, { for: diary }));
      return commit(alice, pay, (batch) => batch.set(diary, { text: "hello" }));
    };
    await assertFails(write(DAY + 1));
    await assertSucceeds(write(DAY));
  });
});

describe("a limit document", () => {
  test("is read by its own user, and neither listed nor deleted by any", async () => {
    await used({ 0: ago(1) });
    await assertSucceeds(getDoc(limit(alice)));
    for (const db of [anyone, bob]) await assertFails(getDoc(limit(db)));
    for (const db of [anyone, alice, bob]) {
      await assertFails(getDocs(collection(db, "clientLimits/notes/keys")));
      await assertFails(getDocs(collectionGroup(db, "keys")));
      await assertFails(deleteDoc(limit(db)));
      await assertFails(setDoc(doc(db, "clientLimits/notes"), { burst: 100 }));
      await assertFails(setDoc(doc(db, "clientLimits/notes/keys/alice/slots/0"), { at: serverTimestamp() }));
    }
  });

  test("is written by its own user: one slot, of 100 at most", async () => {
    for (const slot of [0, 7, 99]) await assertSucceeds(setDoc(limit(alice), limitData(alice, slot), merge));
    for (const db of [anyone, bob]) await assertFails(setDoc(limit(db), limitData(db), merge));
  });

  const forms: [what: string, changes: object][] = [
    ["another field", { burst: 5 }],
    ["a slot -1", { slot: -1, slots: { "-1": serverTimestamp() } }],
    ["a slot 100", { slot: 100, slots: { 100: serverTimestamp() } }],
    ["a slot 0.5", { slot: 0.5, slots: { 0.5: serverTimestamp() } }],
    ["a slot '0'", { slot: "0" }],
    ["no slot", { slot: deleteField() }],
    ["a slot 01", { slot: 1, slots: { "01": serverTimestamp() } }],
    ["another slot than it says", { slots: { 1: serverTimestamp() } }],
    ["two slots", { slots: { 0: serverTimestamp(), 1: serverTimestamp() } }],
    ["a map in the slot", { slots: { 0: { at: serverTimestamp() } } }],
    ["a past time", { slots: { 0: ago(120_000) } }],
    ["a future time", { slots: { 0: ago(-120_000) } }],
    ["no time", { slots: {} }],
    ["slots that are none", { slots: "0" }],
    ["no slots", { slots: deleteField() }],
    ["a document by its path", { for: "/databases/(default)/documents/notes/one" }],
    ["no document", { for: deleteField() }],
    ["an end within a day", { expireAt: ago(60_000 - DAY) }],
    ["a past end", { expireAt: ago(DAY) }],
    ["an end that is no time", { expireAt: Date.now() + 2 * DAY }],
    ["no end", { expireAt: deleteField() }],
  ];

  test.each(forms)("is refused with %s, whether it exists or not", async (_, changes) => {
    await assertFails(setDoc(limit(alice), limitData(alice, 0, changes), merge));
    await used({ 2: ago(120_000) });
    await assertFails(setDoc(limit(alice), limitData(alice, 0, changes), merge));
    await assertFails(commit(alice, withUse(alice, 0, changes), withNote(alice)));
  });

  test("loses no slot, and keeps the times of others", async () => {
    const before = { 0: ago(1_000), 1: ago(2_000) };
    await used(before);
    await assertFails(setDoc(limit(alice), limitData(alice, 2)));
    await assertFails(
      setDoc(limit(alice), limitData(alice, 2, { slots: { 2: serverTimestamp(), 1: deleteField() } }), merge),
    );
    await assertFails(
      setDoc(limit(alice), limitData(alice, 2, { slots: { 2: serverTimestamp(), 1: ago(DAY) } }), merge),
    );
    await assertFails(updateDoc(limit(alice), { slots: {} }));
    await assertFails(updateDoc(limit(alice), { expireAt: ago(-3 * DAY) }));
    expect((await getDoc(limit(alice))).get("slots")).toEqual(before);
  });
});

describe("a counter whose increments are limited", () => {
  const claps = (id = "0") => shard(alice, id, "claps:talk");
  const pay =
    (slot: number, document = claps()) =>
    (batch: WriteBatch) =>
      batch.set(limit(alice, "claps"), limitData(alice, slot, { for: document }), merge);
  const clap = (batch: WriteBatch) => batch.set(claps(), incrementData(), merge);

  test("is incremented with a use for its shard, and not without", async () => {
    await assertFails(commit(alice, clap));
    await assertFails(commit(alice, pay(0, claps("1")), clap));
    await assertSucceeds(commit(alice, pay(0), clap));
    await assertFails(commit(alice, pay(0), clap));
    await assertSucceeds(commit(alice, pay(1), clap));
    await assertFails(commit(anyone, (batch) => batch.set(shard(anyone, "0", "claps:talk"), incrementData(), merge)));
    // By another limit, or in a counter without one.
    await assertSucceeds(commit(alice, (batch) => batch.set(shard(alice, "0", "claps:open"), incrementData(), merge)));
  });

  test("gets one increment for a use, even by two writes of a shard", async () => {
    const two = incrementData({
      count: increment(2),
      writes: increment(2),
      marks: { [NOW]: window(bytes(1, 1, 1, 1), nonce()) },
    });
    await assertFails(commit(alice, pay(0), (batch) => batch.set(claps(), two, merge)));
    const elsewhere = claps("1");
    await assertFails(
      commit(alice, pay(0), clap, (batch) => batch.set(elsewhere, { ...incrementData(), shard: "1" }, merge)),
    );
  });

  test("is incremented once per user, too, and its undo needs no use", async () => {
    const votes = shard(alice, "0", "votes:limited");
    const vote = (batch: WriteBatch) => {
      batch.set(votes, incrementData(), merge);
      batch.set(entry(alice, "alice", "votes:limited"), { by: 1, shard: "0", at: serverTimestamp() });
    };
    await assertFails(commit(alice, vote));
    await assertSucceeds(commit(alice, vote, pay(0, votes)));
    const undo = (batch: WriteBatch) => {
      batch.set(votes, incrementData({ count: increment(-1) }), merge);
      batch.delete(entry(alice, "alice", "votes:limited"));
    };
    await assertSucceeds(commit(alice, undo));
    await assertFails(commit(alice, vote, pay(0, votes)));
  });

  test("is tidied without a use", async () => {
    const window = { at: ago(180_000), nonces: [bytes(0, 0, 0, 0)] };
    await writeAsAdmin("counters/claps:talk/shards/0", {
      shard: "0",
      count: 1,
      writes: 1,
      at: ago(1),
      marks: { 3: window },
    });
    await assertSucceeds(
      environment.unauthenticatedContext().firestore().doc(claps().path).update({ "marks.3": deleteField() }),
    );
  });
});
