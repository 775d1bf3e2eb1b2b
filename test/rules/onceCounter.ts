/** The rules of counters that count once per user. A part of rules.test.ts, which measures the coverage of all parts together. */
import { describe, expect, test } from "vitest";
import { accepts, db, hides, newCounter, refuses, shows, sumOf } from "./environment.ts";
import { ADMIN, type Write } from "./rest.ts";
import { add, DELETED, double, increment, like, merge, NOW, remove, set, unlike } from "./writes.ts";

describe.concurrent("a counter that counts once per user", () => {
  test.each(["likes", "votes"])("of the group %s counts once per user, is undone, and counts again", async (group) => {
    const counter = newCounter(group);
    await accepts("alice", ...like(counter, "alice"));
    await accepts("bob", ...like(counter, "bob", "1"));
    for (const shard of ["0", "2"]) await refuses("alice", ...like(counter, "alice", shard));
    expect(await sumOf(counter)).toBe(2);
    await accepts("alice", ...unlike(counter, "alice"));
    await refuses("alice", ...unlike(counter, "alice"));
    expect(await sumOf(counter)).toBe(1);
    await accepts("alice", ...like(counter, "alice", "3"));
    expect(await sumOf(counter)).toBe(2);
  });

  test("is undone even after its shard was folded away", async () => {
    const counter = newCounter("likes");
    await accepts("alice", ...like(counter, "alice", "7"));
    await db.commit(ADMIN, [remove(`${counter}/shards/7`), set(`${counter}/shards/base`, { count: 1, writes: 1 })]);
    await accepts("alice", ...unlike(counter, "alice", "7"));
    expect(await sumOf(counter)).toBe(0);
  });

  test("accepts no plain increment", async () => {
    const counter = newCounter("votes");
    const shard = `${counter}/shards/0`;
    for (const user of [null, "alice"]) await refuses(user, increment(shard));
    await accepts("alice", ...like(counter, "alice"));
    for (const by of [1, -1]) await refuses("alice", increment(shard, { count: add(by) }));
  });

  test("accepts no entry without its increment, nor one with another's", async () => {
    const counter = newCounter("likes");
    const entry = set(`${counter}/tallyEntries/alice`, { once: "alice", by: 1, shard: "0", at: NOW });
    await refuses("alice", entry);
    await accepts("bob", ...like(counter, "bob"));
    await refuses("alice", entry);
  });

  test("accepts no entry with a double", async () => {
    await refuses("alice", ...like(newCounter("likes"), "alice", "0", { by: double(1) }));
  });

  test("accepts only the user's own uid, and none from a client that is signed out", async () => {
    const counter = newCounter("likes");
    for (const once of ["bob", "anything"]) await refuses("alice", ...like(counter, once));
    await refuses(null, ...like(counter, "alice"));
  });

  test("neither makes nor deletes another user's entry beside a valid like", async () => {
    const counter = newCounter("likes");
    const entry = `${counter}/tallyEntries/alice`;
    await refuses("bob", ...like(counter, "bob"), set(entry, { once: "alice", by: 1, shard: "0", at: NOW }));
    await accepts("alice", ...like(counter, "alice"));
    await refuses("bob", ...like(counter, "bob"), remove(entry));
  });

  test("refuses a second increment beside the one of the entry, on the same shard or another", async () => {
    const counter = newCounter("likes");
    for (const shard of ["0", "1"])
      await refuses("alice", ...like(counter, "alice"), increment(`${counter}/shards/${shard}`));
  });

  test("refuses an undo that counts twice, by more than the entry, or on another shard", async () => {
    const counter = newCounter("likes");
    for (const user of ["alice", "bob"]) await accepts(user, ...like(counter, user));
    const more = (shard: string) => increment(`${counter}/shards/${shard}`, { count: add(-1) });
    for (const shard of ["0", "1"]) await refuses("alice", ...unlike(counter, "alice"), more(shard));
    await refuses("alice", ...unlike(counter, "alice", "1"));
    await refuses("alice", ...unlike(counter, "alice", "0", -2));
  });

  test("refuses an undo without its decrement or by another user, and a like and unlike in one commit", async () => {
    const counter = newCounter("likes");
    const entry = `${counter}/tallyEntries/alice`;
    await accepts("alice", ...like(counter, "alice"));
    await refuses("alice", remove(entry));
    await refuses("bob", ...unlike(counter, "alice"));
    await refuses("alice", ...unlike(counter, "alice"), set(entry, { once: "alice", by: 1, shard: "0", at: NOW }));
  });

  const forms: Record<string, { entry?: object; shard?: object }> = {
    "an entry of 2": { entry: { by: 2 } },
    "an entry of 2 and an increment by 2": { entry: { by: 2 }, shard: { count: add(2) } },
    "an increment by 2": { shard: { count: add(2) } },
    "a decrement": { entry: { by: -1 }, shard: { count: add(-1) } },
    "an entry that names another shard": { entry: { shard: "1" } },
    "an entry that names base": { entry: { shard: "base" } },
    "an entry whose shard is a number": { entry: { shard: 0 } },
    "an entry with a time of its own": { entry: { at: new Date(0) } },
    "an entry with another's uid": { entry: { once: "bob" } },
    "an entry without `once`": { entry: { once: DELETED } },
    "an entry with a foreign field": { entry: { note: "x" } },
    "no mark": { shard: { marks: {} } },
    "a shard of another name": { shard: { shard: "1" } },
  };
  test.each(Object.entries(forms))("refuses %s", async (_, { entry, shard }) => {
    const counter = newCounter("likes");
    const [entered] = like(counter, "alice", "0", entry) as [Write, Write];
    await refuses("alice", entered, increment(`${counter}/shards/0`, shard));
    // Alone, so that no refusal of the increment comes before that of the entry.
    await refuses("alice", entered);
  });

  test("shows an entry to its owner alone, and a list to no client", async () => {
    const counter = newCounter("likes");
    await accepts("alice", ...like(counter, "alice"));
    await shows(`${counter}/tallyEntries/alice`, "alice");
    await hides(`${counter}/tallyEntries/alice`, "bob", null);
    await hides(`${counter}/tallyEntries`, "alice");
  });

  test("never lets an entry be updated", async () => {
    const counter = newCounter("likes");
    const entry = `${counter}/tallyEntries/alice`;
    await accepts("alice", ...like(counter, "alice"));
    await refuses("alice", merge(entry, { by: 5 }));
    await refuses("alice", set(entry, { once: "alice", by: 1, shard: "0", at: NOW }));
  });

  test("has a group that ends at the first colon of the id", async () => {
    for (const id of ["likes:", "likes:x:1", "votes:views:1"])
      await accepts("alice", ...like(`counters/${id}`, "alice"));
    for (const id of ["likes", "likesX:1", "x:likes:1", "views:likes:1"])
      await refuses("alice", ...like(`counters/${id}`, "alice"));
  });
});
