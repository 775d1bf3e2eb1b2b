/** The marks of a shard, which refuse replays. A part of rules.test.ts. */
import { describe, expect, test } from "vitest";
import { accepts, newCounter, newShard, newUser, read, refuses, store } from "./environment.ts";
import { marksOf, noncesOf, numberOf } from "./fuzz/values.ts";
import type { Write } from "./rest.ts";
import { ago, bytes, DELETED, increment, like, NOW, nonce, SLOT, slot, unlike, update } from "./writes.ts";

const NAMES = [..."01234"];
/** A slot that was last written so many seconds ago. */
const old = (seconds: number, ...nonces: unknown[]) => ({ at: ago(seconds), nonces });

describe.concurrent("a mark", () => {
  test("may be in any slot, and stays", async () => {
    const shard = newShard();
    for (const name of [...NAMES, ...NAMES])
      await accepts(null, increment(shard, { marks: { [name]: slot(nonce()) } }));
    const { count, marks } = await read(shard);
    expect([numberOf(count), Object.values(marksOf({ marks: marks ?? {} })).flatMap(noncesOf).length]).toEqual([
      10, 10,
    ]);
  });

  test("refuses the replay of its write, also after other writes", async () => {
    const shard = newShard();
    const write = increment(shard);
    await accepts(null, write);
    await refuses(null, write);
    for (let n = 0; n < 5; n++) await accepts("mallory", increment(shard));
    await refuses(null, write);
    expect(numberOf((await read(shard)).count)).toBe(6);
  });

  test("of others is neither dropped, moved nor replaced", async () => {
    const shard = newShard();
    const [one, other, third] = [nonce(), nonce(), nonce()];
    await store(shard, { count: 1, writes: 1, marks: { [SLOT]: old(600, one, other), 4: old(60, one) } });
    const write = (...nonces: unknown[]) => increment(shard, { marks: { [SLOT]: { at: NOW, nonces } } });
    for (const nonces of [[third], [one, third], [other, one, third], [third, one, other]])
      await refuses(null, write(...nonces));
    await refuses(null, increment(shard, { marks: { [SLOT]: slot(third), 4: DELETED } }));
    await accepts(null, write(one, other, third));
  });

  test("of one slot is not copied to another, and equal slots stay", async () => {
    const shard = newShard();
    const equal = old(1, nonce());
    await store(shard, { count: 1, writes: 1, marks: { 0: equal } });
    await refuses(null, increment(shard, { marks: { 1: equal } }));
    await store(shard, { count: 1, writes: 1, marks: { 0: equal, 1: equal } });
    const only = { at: NOW, nonces: [nonce()] };
    await refuses(null, increment(shard, { marks: { 1: only } }));
    await accepts(null, increment(shard, { marks: { 2: only } }));
  });
});

describe.concurrent("an increment removes slots of its shard", () => {
  const marked = async (marks: object) => {
    const shard = newShard();
    await store(shard, { count: 3, writes: 3, shard: "0", at: new Date(0), marks });
    return shard;
  };
  /** An increment with a mark in one slot that removes others. */
  const without = (shard: string, names: readonly string[], changes: object = {}, own = "2") => {
    const removed = Object.fromEntries(names.map((name) => [name, DELETED]));
    return increment(shard, { marks: { [own]: slot(nonce()), ...removed, ...changes } });
  };

  test.each(NAMES)("named %s, two minutes after the last write and not before", async (name) => {
    const own = name === "2" ? "3" : "2";
    await refuses(null, without(await marked({ [name]: old(110, nonce()) }), [name], {}, own));
    const shard = await marked({ [name]: old(121, nonce()) });
    await accepts(null, without(shard, [name], {}, own));
    const { count, marks } = await read(shard);
    expect([numberOf(count), Object.keys(marksOf({ marks: marks ?? {} }))]).toEqual([4, [own]]);
  });

  test("all others at once, and such as do not exist", async () => {
    const shard = await marked(Object.fromEntries(NAMES.map((name) => [name, old(121, nonce())])));
    await accepts(null, without(shard, ["0", "1"]));
    await accepts(null, without(shard, ["0", "1", "3", "4"]));
    expect(Object.keys(marksOf(await read(shard)))).toEqual(["2"]);
  });

  test("but not a slot without a time", async () => {
    await refuses(null, without(await marked({ 0: { nonces: [nonce()] } }), ["0"]));
  });

  test("in an undo as in an increment with an entry", async () => {
    const counter = newCounter("likes");
    const shard = `${counter}/shards/0`;
    await store(shard, { count: 3, writes: 3, shard: "0", at: new Date(0), marks: { 0: old(121), 1: old(100) } });
    const user = newUser();
    const liked = like(counter, user);
    const removing = (writes: readonly Write[], name: string) =>
      writes.map((one) => (one.path === shard ? { ...one, mask: [...(one.mask ?? []), `marks.\`${name}\``] } : one));
    await refuses(user, ...removing(liked, "1"));
    await accepts(user, ...removing(liked, "0"));
    await accepts(user, ...removing(unlike(counter, user), "0"));
  });

  const wrong: Record<string, (shard: string) => Write> = {
    "removes a young slot, too": (shard) => without(shard, ["0", "3"]),
    "does not count": (shard) => update(shard, { marks: { 0: DELETED } }),
    "removes the slot of its mark": (shard) => increment(shard, { marks: { 0: DELETED } }),
    "adds another slot": (shard) => without(shard, ["0"], { 4: old(0, nonce()) }),
    "makes another slot young": (shard) => without(shard, ["0"], { 1: { at: NOW } }),
    "makes a young slot old": (shard) => without(shard, ["0"], { 3: { at: new Date(0) } }),
    "drops a nonce of another slot": (shard) => without(shard, ["0"], { 1: { nonces: [] } }),
    "removes all marks": (shard) => increment(shard, { marks: DELETED }),
  };
  test.each(Object.entries(wrong))("but not with a write that %s", async (_, write) => {
    const slots = {
      0: old(600, bytes(1, 2, 3, 4, 5)),
      1: old(600, bytes(5, 6, 7, 8, 9)),
      3: old(5, bytes(9, 9, 9, 9, 9)),
    };
    await refuses(null, write(await marked(slots)));
  });
});

test("a slot takes 3,000 marks near its own 61 seconds of 305, and 1,000 at other times", async () => {
  const shard = newShard();
  const nonces = (size: number) => Array.from({ length: size }, nonce);
  const full = (size: number) => store(shard, { count: 1, writes: 1, shard: "0", marks: allOf(size) });
  const allOf = (size: number) =>
    Object.fromEntries(NAMES.map((name) => [name, { at: ago(150), nonces: nonces(size) }]));
  /** The slot whose own time is so many seconds from now. */
  const slotIn = (seconds: number) => `${Math.floor((Date.now() + seconds * 1_000) / 61_000) % 5}`;
  const write = (own: string, ...removed: string[]) =>
    increment(shard, {
      marks: { [own]: slot(nonce()), ...Object.fromEntries(removed.map((name) => [name, DELETED])) },
    });
  await full(999);
  for (const name of NAMES) await accepts(null, write(name));
  for (const name of NAMES.filter((name) => ![slotIn(12), slotIn(-32)].includes(name)))
    await refuses(null, write(name));
  // Not 3 seconds before the turn of a slot, so that the time does not pass it.
  const isNearTurn = (seconds: number) => (Date.now() / 1_000 + seconds) % 61 > 58;
  for (const seconds of [9, -29].filter((one) => !isNearTurn(one))) await accepts(null, write(slotIn(seconds)));
  // Nor is an old slot kept young by a write that removes another one.
  await full(1_000);
  await refuses(null, write(slotIn(122), slotIn(183)));
  await accepts(null, write(slotIn(0), slotIn(122)));
  await full(2_999);
  await accepts(null, write(slotIn(0)));
  await refuses(null, write(slotIn(0)));
});
