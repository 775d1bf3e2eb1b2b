/** The rules of bounded counters. A part of rules.test.ts, which measures the coverage of all parts together. */
import { describe, expect, test } from "vitest";
import { accepts, newCounter, refuses, store, sumOf } from "./environment.ts";
import { add, increment, merge, NOW, remove, set } from "./writes.ts";

/** Takes units of shard 0. @param changes  fields of the entry that differ from a valid one */
const take = (counter: string, user: string, n: number, changes: object = {}) => [
  set(`${counter}/tallyEntries/${user}`, { once: user, by: -n, shard: "0", at: NOW, ...changes }),
  increment(`${counter}/shards/0`, { count: add(-n) }),
];

const giveBack = (counter: string, user: string, n: number) => [
  remove(`${counter}/tallyEntries/${user}`),
  increment(`${counter}/shards/0`, { count: add(n) }),
];

async function stocked(count: number, counter = newCounter("tickets")): Promise<string> {
  await store(`${counter}/shards/0`, { shard: "0", count, writes: 0 });
  return counter;
}

describe.concurrent("a bounded counter", () => {
  test.each(["stock", "tickets"])(
    "of the group %s gives each user what is there, once, and takes it back",
    async (group) => {
      const counter = await stocked(5, newCounter(group));
      await accepts("alice", ...take(counter, "alice", 3));
      await refuses("alice", ...take(counter, "alice", 1));
      await accepts("bob", ...take(counter, "bob", 2));
      expect(await sumOf(counter)).toBe(0);
      await accepts("alice", ...giveBack(counter, "alice", 3));
      await refuses("alice", ...giveBack(counter, "alice", 3));
      await refuses("bob", ...giveBack(counter, "bob", 3));
      expect(await sumOf(counter)).toBe(3);
      await accepts("alice", ...take(counter, "alice", 1));
    },
  );

  test("gives no more than a shard has", async () => {
    await refuses("alice", ...take(newCounter("tickets"), "alice", 1));
    const counter = await stocked(2);
    await refuses("alice", ...take(counter, "alice", 3));
    await accepts("alice", ...take(counter, "alice", 2));
    await refuses("bob", ...take(counter, "bob", 1));
  });

  test("gives at most 10 units, in whole units, and none are put in", async () => {
    const counter = await stocked(50);
    for (const units of [11, -1, 0, 1.5]) await refuses("alice", ...take(counter, "alice", units));
    await accepts("alice", ...take(counter, "alice", 10));
  });

  test("accepts no take without its entry, nor by another amount, shard or user", async () => {
    const counter = await stocked(50);
    const entry = `${counter}/tallyEntries/alice`;
    for (const user of [null, "alice"])
      for (const by of [-1, 1]) await refuses(user, increment(`${counter}/shards/0`, { count: add(by) }));
    for (const by of [-1, -1.5]) await refuses("alice", set(entry, { once: "alice", by, shard: "0", at: NOW }));
    await refuses("alice", ...take(counter, "bob", 1));
    await refuses(null, ...take(counter, "alice", 1));
    for (const changes of [{ by: -2 }, { shard: "1" }]) await refuses("alice", ...take(counter, "alice", 1, changes));
    await accepts("alice", ...take(counter, "alice", 1));
    await refuses("alice", merge(entry, { by: -2 }));
  });

  test("gives nothing back that a server has put in", async () => {
    const counter = await stocked(5);
    await store(`${counter}/tallyEntries/alice`, { by: 10, shard: "0" });
    await refuses("alice", ...giveBack(counter, "alice", -10));
    await stocked(10, counter);
    await accepts("alice", ...giveBack(counter, "alice", -10));
  });
});
