/** The rules of keyed counters. A part of rules.test.ts, which measures the coverage of all parts together. */
import { assertFails, assertSucceeds } from "@firebase/rules-unit-testing";
import {
  collection,
  deleteDoc,
  type Firestore,
  getDoc,
  getDocs,
  increment,
  serverTimestamp,
  setDoc,
  Timestamp,
  updateDoc,
  writeBatch,
} from "firebase/firestore";
import { describe, expect, test } from "vitest";
import {
  alice,
  anyone,
  bob,
  entry,
  environment,
  incrementData,
  merge,
  shard,
  sumOf,
  writeAsAdmin,
} from "./environment.ts";

describe.each(["likes:post", "votes:post"])("the keyed counter %s", (counter) => {
  /** A batch that likes as `user`. @param changes  fields that differ from a valid batch */
  function like(db: Firestore, user: string, shardId = "0", changes: { entry?: object; shard?: object } = {}) {
    const batch = writeBatch(db);
    batch.set(entry(db, user, counter), { by: 1, shard: shardId, at: serverTimestamp(), ...changes.entry });
    batch.set(shard(db, shardId, counter), incrementData({ shard: shardId, ...changes.shard }), merge);
    return batch;
  }
  function unlike(db: Firestore, user: string, shardId = "0", by = -1) {
    const batch = writeBatch(db);
    batch.delete(entry(db, user, counter));
    batch.set(shard(db, shardId, counter), incrementData({ shard: shardId, count: increment(by) }), merge);
    return batch;
  }

  test("counts once per user, is undone, and counts again", async () => {
    await assertSucceeds(like(alice, "alice").commit());
    await assertSucceeds(like(bob, "bob", "1").commit());
    await assertFails(like(alice, "alice").commit());
    await assertFails(like(alice, "alice", "2").commit());
    expect(await sumOf(counter)).toBe(2);
    await assertSucceeds(unlike(alice, "alice").commit());
    await assertFails(unlike(alice, "alice").commit());
    expect(await sumOf(counter)).toBe(1);
    await assertSucceeds(like(alice, "alice", "3").commit());
    expect(await sumOf(counter)).toBe(2);
  });

  test("is undone even after its shard was folded away", async () => {
    await assertSucceeds(like(alice, "alice", "7").commit());
    await environment.withSecurityRulesDisabled((context) =>
      deleteDoc(shard(context.firestore() as unknown as Firestore, "7", counter)),
    );
    await writeAsAdmin(`counters/${counter}/shards/base`, { count: 1, writes: 1 });
    await assertSucceeds(unlike(alice, "alice", "7").commit());
    expect(await sumOf(counter)).toBe(0);
  });

  test("accepts no plain increment", async () => {
    await assertFails(setDoc(shard(anyone, "0", counter), incrementData(), merge));
    await assertFails(setDoc(shard(alice, "0", counter), incrementData(), merge));
    await assertSucceeds(like(alice, "alice").commit());
    await assertFails(setDoc(shard(alice, "0", counter), incrementData(), merge));
    await assertFails(setDoc(shard(alice, "0", counter), incrementData({ count: increment(-1) }), merge));
  });

  test("accepts no entry without its increment, nor one with another's", async () => {
    const write = { by: 1, shard: "0", at: serverTimestamp() };
    await assertFails(setDoc(entry(alice, "alice", counter), write));
    await assertSucceeds(like(bob, "bob").commit());
    await assertFails(setDoc(entry(alice, "alice", counter), write));
  });

  test("accepts only the user's own key, and none from a client that is signed out", async () => {
    await assertFails(like(alice, "bob").commit());
    await assertFails(like(alice, "anything").commit());
    await assertFails(like(anyone, "alice").commit());
  });

  test("refuses a second increment beside the one of the entry, on the same shard or another", async () => {
    const elsewhere = like(alice, "alice");
    elsewhere.set(shard(alice, "1", counter), incrementData({ shard: "1" }), merge);
    await assertFails(elsewhere.commit());
    const same = like(alice, "alice");
    same.set(shard(alice, "0", counter), incrementData(), merge);
    await assertFails(same.commit());
    expect(await sumOf(counter)).toBe(0);
  });

  test("refuses an undo that counts twice, by more than the entry, or on another shard", async () => {
    await assertSucceeds(like(alice, "alice").commit());
    await assertSucceeds(like(bob, "bob").commit());
    const twice = unlike(alice, "alice");
    twice.set(shard(alice, "1", counter), incrementData({ shard: "1", count: increment(-1) }), merge);
    await assertFails(twice.commit());
    const sameTwice = unlike(alice, "alice");
    sameTwice.set(shard(alice, "0", counter), incrementData({ count: increment(-1) }), merge);
    await assertFails(sameTwice.commit());
    await assertFails(unlike(alice, "alice", "1").commit());
    await assertFails(unlike(alice, "alice", "0", -2).commit());
    expect(await sumOf(counter)).toBe(2);
  });

  test("refuses an undo without its decrement, and a like and unlike in one commit", async () => {
    await assertSucceeds(like(alice, "alice").commit());
    await assertFails(deleteDoc(entry(alice, "alice", counter)));
    await assertFails(unlike(bob, "alice").commit());
    const swap = unlike(alice, "alice");
    swap.set(entry(alice, "alice", counter), { by: 1, shard: "0", at: serverTimestamp() });
    await assertFails(swap.commit());
    expect(await sumOf(counter)).toBe(1);
  });

  const refused: Record<string, { entry?: object; shard?: object }> = {
    "an entry of 2": { entry: { by: 2 } },
    "an entry of 2 and an increment by 2": { entry: { by: 2 }, shard: { count: increment(2) } },
    "an increment by 2": { shard: { count: increment(2) } },
    "a decrement": { entry: { by: -1 }, shard: { count: increment(-1) } },
    "an entry that names another shard": { entry: { shard: "1" } },
    "an entry that names base": { entry: { shard: "base" } },
    "an entry whose shard is a number": { entry: { shard: 0 } },
    "an entry with a time of its own": { entry: { at: Timestamp.fromMillis(0) } },
    "an entry with a foreign field": { entry: { note: "x" } },
    "no mark": { shard: { marks: {} } },
    "a shard of another name": { shard: { shard: "1" } },
  };
  test.each(Object.entries(refused))("refuses %s", async (_, changes) => {
    await assertFails(like(alice, "alice", "0", changes).commit());
    expect(await sumOf(counter)).toBe(0);
  });

  test("shows an entry to its owner alone, and a list to no client", async () => {
    await assertSucceeds(like(alice, "alice").commit());
    await assertSucceeds(getDoc(entry(alice, "alice", counter)));
    await assertFails(getDoc(entry(bob, "alice", counter)));
    await assertFails(getDoc(entry(anyone, "alice", counter)));
    await assertFails(getDocs(collection(alice, `counters/${counter}/entries`)));
  });

  test("never lets an entry be updated", async () => {
    await assertSucceeds(like(alice, "alice").commit());
    await assertFails(updateDoc(entry(alice, "alice", counter), { by: 5 }));
    await assertFails(setDoc(entry(alice, "alice", counter), { by: 1, shard: "0", at: serverTimestamp() }));
  });
});
