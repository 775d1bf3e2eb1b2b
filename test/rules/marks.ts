/** The marks of a shard, which refuse replays. A part of rules.test.ts. */
import { describe, expect, test } from "vitest";
import { accepts, newShard, read, refuses, store } from "./environment.ts";
import { integer, marksOf, noncesOf, numberOf } from "./fuzz/oracle.ts";
import { add, ago, bytes, DELETED, increment, merge, NOW, nonce, update, WINDOW, window } from "./writes.ts";

const NAMES = [..."0123456789abcdef"];
/** A window that was last written so many seconds ago. */
const old = (seconds: number, ...nonces: unknown[]) => ({ at: ago(seconds), nonces });

describe.concurrent("a mark", () => {
  test("may be in any window, and stays", async () => {
    const shard = newShard();
    for (const name of [...NAMES, ...NAMES])
      await accepts(null, increment(shard, { marks: { [name]: window(nonce()) } }));
    const { count, marks } = await read(shard);
    expect([numberOf(count), Object.values(marksOf({ marks: marks ?? {} })).flatMap(noncesOf).length]).toEqual([
      32, 32,
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
    await store(shard, { count: 1, writes: 1, marks: { [WINDOW]: old(600, one, other), 8: old(600, one) } });
    const write = (...nonces: unknown[]) => increment(shard, { marks: { [WINDOW]: { at: NOW, nonces } } });
    for (const nonces of [[third], [one, third], [other, one, third], [third, one, other]])
      await refuses(null, write(...nonces));
    await refuses(null, increment(shard, { marks: { [WINDOW]: window(third), 8: DELETED } }));
    await accepts(null, write(one, other, third));
  });

  test("of one window is not copied to another, and equal windows stay", async () => {
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

describe.concurrent("every client removes windows of a shard", () => {
  const tidied = { count: 3, writes: 3, shard: "0", at: new Date(0) };
  const marked = async (marks: object) => {
    const shard = newShard();
    await store(shard, { ...tidied, marks });
    return shard;
  };
  const without = (shard: string, names: readonly string[], changes: object = {}) => {
    const marks = { ...Object.fromEntries(names.map((name) => [name, DELETED])), ...changes };
    return update(shard, { marks });
  };

  test.each(NAMES)("named %s, two minutes after the last write and not before", async (name) => {
    const young = await marked({ [name]: old(110, nonce()) });
    await refuses(null, without(young, [name]));
    const shard = await marked({ [name]: old(121, nonce()) });
    await accepts(null, without(shard, [name]));
    const { marks, ...rest } = await read(shard);
    expect(marksOf({ marks: marks ?? {} })).toEqual({});
    expect(Object.keys(rest).sort()).toEqual(["at", "count", "shard", "writes"]);
  });

  test("all at once, or some of them", async () => {
    const shard = await marked(Object.fromEntries(NAMES.map((name) => [name, old(121, nonce())])));
    await accepts(null, without(shard, ["0", "f"]));
    await accepts(null, update(shard, { marks: DELETED }));
    await accepts(null, increment(shard));
  });

  test("also where other fields are missing, so that every increment is refused", async () => {
    const shard = newShard();
    await store(shard, { count: "3", marks: { 0: old(121, nonce()) } });
    await refuses(null, merge(shard, { marks: { 0: window(nonce()) } }));
    await accepts(null, without(shard, ["0"]));
  });

  test("but not a window without a time", async () => {
    await refuses(null, without(await marked({ 0: { nonces: [nonce()] } }), ["0"]));
  });

  const wrong: Record<string, (shard: string) => ReturnType<typeof update>> = {
    "removes a young window, too": (shard) => without(shard, ["0", "2"]),
    counts: (shard) => update(shard, { marks: { 0: DELETED }, count: add(1) }),
    "counts a write": (shard) => update(shard, { marks: { 0: DELETED }, writes: add(1) }),
    "has a time": (shard) => update(shard, { marks: { 0: DELETED }, at: NOW }),
    "has a foreign field": (shard) => update(shard, { marks: { 0: DELETED }, extra: 1 }),
    "renames the shard": (shard) => update(shard, { marks: { 0: DELETED }, shard: "1" }),
    "adds a window": (shard) => without(shard, ["0"], { 3: old(0, nonce()) }),
    "adds a window for two": (shard) => without(shard, ["0", "1"], { 3: old(0, nonce()) }),
    "makes another window young": (shard) => without(shard, ["0"], { 1: { at: NOW } }),
    "makes a young window old": (shard) => without(shard, ["0"], { 2: { at: new Date(0) } }),
    "drops a nonce of another window": (shard) => without(shard, ["0"], { 1: { nonces: [] } }),
    "removes nothing": (shard) => update(shard, { count: integer(3) }),
    "removes what is no window, too": (shard) => without(shard, ["0", "g", "2"]),
  };
  test.each(Object.entries(wrong))("but not with a write that %s", async (_, write) => {
    const windows = { 0: old(600, bytes(1, 2, 3, 4)), 1: old(600, bytes(5, 6, 7, 8)), 2: old(5, bytes(9, 9, 9, 9)) };
    await refuses(null, write(await marked(windows)));
  });
});
