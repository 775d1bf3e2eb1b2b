/** The rules of bounded counters. A part of rules.test.ts, which measures the coverage of all parts together. */
import { assertFails, assertSucceeds } from "@firebase/rules-unit-testing";
import { type Firestore, increment, serverTimestamp, setDoc, updateDoc, writeBatch } from "firebase/firestore";
import { describe, expect, test } from "vitest";
import { alice, anyone, bob, entry, incrementData, merge, shard, sumOf, writeAsAdmin } from "./environment.ts";

/** A batch that takes units of shard 0 as `user`. @param changes  fields that differ from a valid batch */
function take(db: Firestore, user: string, n: number, changes: { entry?: object; shard?: object } = {}, id = STOCK) {
  const batch = writeBatch(db);
  batch.set(entry(db, user, id), { by: -n, shard: "0", at: serverTimestamp(), ...changes.entry });
  batch.set(shard(db, "0", id), incrementData({ count: increment(-n), ...changes.shard }), merge);
  return batch;
}

function giveBack(db: Firestore, user: string, n: number, id = STOCK) {
  const batch = writeBatch(db);
  batch.delete(entry(db, user, id));
  batch.set(shard(db, "0", id), incrementData({ count: increment(n) }), merge);
  return batch;
}

const STOCK = "tickets:final";
const stocked = (count: number) => writeAsAdmin(`counters/${STOCK}/shards/0`, { shard: "0", count, writes: 0 });

describe("the bounded counter tickets:final", () => {
  test("gives each user what is there, once, and takes it back", async () => {
    await stocked(5);
    await assertSucceeds(take(alice, "alice", 3).commit());
    await assertFails(take(alice, "alice", 1).commit());
    await assertSucceeds(take(bob, "bob", 2).commit());
    expect(await sumOf(STOCK)).toBe(0);
    await assertSucceeds(giveBack(alice, "alice", 3).commit());
    await assertFails(giveBack(alice, "alice", 3).commit());
    await assertFails(giveBack(bob, "bob", 3).commit());
    expect(await sumOf(STOCK)).toBe(3);
    await assertSucceeds(take(alice, "alice", 1).commit());
  });

  test("gives no more than a shard has", async () => {
    await assertFails(take(alice, "alice", 1).commit());
    await stocked(2);
    await assertFails(take(alice, "alice", 3).commit());
    await assertSucceeds(take(alice, "alice", 2).commit());
    await assertFails(take(bob, "bob", 1).commit());
    expect(await sumOf(STOCK)).toBe(0);
  });

  test("gives at most 10 units, in whole units, and none are put in", async () => {
    await stocked(50);
    await assertFails(take(alice, "alice", 11).commit());
    await assertFails(take(alice, "alice", -1).commit());
    await assertFails(take(alice, "alice", 0).commit());
    await assertFails(take(alice, "alice", 1.5).commit());
    await assertSucceeds(take(alice, "alice", 10).commit());
  });

  test("accepts no take without its entry, nor by another amount, shard or user", async () => {
    await stocked(50);
    for (const by of [-1, 1]) {
      await assertFails(setDoc(shard(anyone, "0", STOCK), incrementData({ count: increment(by) }), merge));
      await assertFails(setDoc(shard(alice, "0", STOCK), incrementData({ count: increment(by) }), merge));
    }
    const taken = { by: -1, shard: "0", at: serverTimestamp() };
    await assertFails(setDoc(entry(alice, "alice", STOCK), taken));
    await assertFails(setDoc(entry(alice, "alice", STOCK), { ...taken, by: -1.5 }));
    await assertFails(take(alice, "bob", 1).commit());
    await assertFails(take(anyone, "alice", 1).commit());
    await assertFails(take(alice, "alice", 1, { entry: { by: -2 } }).commit());
    await assertFails(take(alice, "alice", 1, { entry: { shard: "1" } }).commit());
    await assertSucceeds(take(alice, "alice", 1).commit());
    await assertFails(updateDoc(entry(alice, "alice", STOCK), { by: -2 }));
  });

  test("gives nothing back that a server has put in", async () => {
    await stocked(5);
    await writeAsAdmin(`counters/${STOCK}/entries/alice`, { by: 10, shard: "0" });
    await assertFails(giveBack(alice, "alice", -10).commit());
    await stocked(10);
    await assertSucceeds(giveBack(alice, "alice", -10).commit());
  });
});
