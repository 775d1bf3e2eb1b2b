/** The rules of counters that old clients write: those of Firebase's recipe. A part of rules.test.ts. */
import { describe, expect, test } from "vitest";
import { accepts, db, newCounter, read, refuses, store } from "./environment.ts";
import { integer, numberOf } from "./fuzz/values.ts";
import { add, bytes, DELETED, double, increment, merge, NOW, remove, set, update } from "./writes.ts";

const HAND_MADE = { count: 41 };
const ADOPTED = { shard: "3", count: 41, writes: 0 };
const countIn = async (shard: string) => numberOf((await read(shard)).count);
/** Lists shards. A query of a path with a colon is refused by the emulator. */
const list = (user: null | string, counter: string) => db.call(user, "GET", `${counter}/shards`);

describe.concurrent("a counter that old clients write", () => {
  test.each([
    ["made by hand", HAND_MADE],
    ["adopted", ADOPTED],
  ])("is incremented by 1, by every client, on a shard that is there: %s", async (_, before) => {
    const shard = `${newCounter("hits")}/shards/3`;
    await store(shard, before);
    await accepts(null, update(shard, { count: add(1) }));
    await accepts("alice", update(shard, { count: 43 }));
    expect(await read(shard)).toEqual({ ...(await read(shard)), count: integer(43) });
  });

  test("is incremented by Tally's clients only if it is open to them, too", async () => {
    const shard = `${newCounter("hits")}/shards/3`;
    await store(shard, ADOPTED);
    await refuses(null, increment(shard));
    expect(await countIn(shard)).toBe(41);
  });

  test("takes a write without effect, as of a transaction that was overtaken, and none that lowers the count", async () => {
    const shard = `${newCounter("hits")}/shards/3`;
    await store(shard, ADOPTED);
    await accepts(null, update(shard, { count: 41 }));
    await refuses(null, update(shard, { count: 40 }));
    expect(await countIn(shard)).toBe(41);
  });

  const forms: Record<string, object> = {
    "by 2": { count: add(2) },
    "by -1": { count: add(-1) },
    "by a fraction": { count: add(0.5) },
    "by a double": { count: add(double(1)) },
    "to a string": { count: "42" },
    "without its count": { count: DELETED },
    "with its writes": { count: add(1), writes: add(1) },
    "with a time": { count: add(1), at: NOW },
    "with a mark": { count: add(1), marks: { 0: { at: NOW, nonces: [bytes(1, 2, 3, 4, 5)] } } },
    "with a field of its own": { count: add(1), name: "x" },
    "without another field": { count: add(1), shard: DELETED },
  };
  test.each(Object.entries(forms))("is not written %s", async (_, changes) => {
    const shard = `${newCounter("hits")}/shards/3`;
    await store(shard, ADOPTED);
    await refuses("alice", update(shard, changes));
    await refuses("alice", merge(shard, changes));
  });

  test("has no other shards than before, and none beyond what is exact", async () => {
    const counter = newCounter("hits");
    for (const write of [merge, set]) await refuses(null, write(`${counter}/shards/3`, { count: 1 }));
    for (const id of ["base", "x", "10000", "03"]) {
      await store(`${counter}/shards/${id}`, HAND_MADE);
      await refuses(null, update(`${counter}/shards/${id}`, { count: add(1) }));
    }
    await store(`${counter}/shards/0`, { count: 2 ** 53 - 1 });
    await refuses(null, update(`${counter}/shards/0`, { count: add(1) }));
    await refuses(null, remove(`${counter}/shards/0`));
    await store(`${counter}/shards/1`, { writes: 3 });
    await refuses(null, update(`${counter}/shards/1`, { count: add(1) }));
  });

  test("shows its shards to every client", async () => {
    const counter = newCounter("hits");
    await store(`${counter}/shards/0`, HAND_MADE);
    for (const user of [null, "alice"]) expect((await list(user, counter)).status).toBe(200);
  });

  test.each(["likes", "stock", "views", "closed"])(
    "is none of the group %s: it counts per user, or is not named",
    async (group) => {
      const shard = `${newCounter(group)}/shards/3`;
      for (const before of [HAND_MADE, ADOPTED]) {
        await store(shard, before);
        for (const user of [null, "alice"]) await refuses(user, update(shard, { count: add(1) }));
      }
    },
  );
});

test("by default no client writes as old ones do", async () => {
  const shard = `${newCounter("")}/shards/0`.replace(":", "");
  await store(shard, HAND_MADE);
  await refuses(null, update(shard, { count: add(1) }));
});
