/** The rules of open counters. A part of rules.test.ts, which measures the coverage of all parts together. */
import { describe, expect, test } from "vitest";
import { accepts, hides, newCounter, newShard, OPERATOR, read, refuses, shows, store, sumOf } from "./environment.ts";
import { integer, numberOf } from "./fuzz/values.ts";
import {
  add,
  append,
  bytes,
  DELETED,
  double,
  increment,
  merge,
  NOW,
  nonce,
  remove,
  SLOT,
  set,
  slot,
} from "./writes.ts";

describe.concurrent("an open counter", () => {
  test("is incremented by every client, on a new shard and on one that exists", async () => {
    const counter = newCounter();
    for (const user of [null, "alice"]) await accepts(user, increment(`${counter}/shards/0`));
    await accepts(null, increment(`${counter}/shards/9999`));
    expect(await sumOf(counter, "0", "9999")).toBe(3);
  });

  test.each(["\u0000", "\n", "\t", "\u001f", "\u007f", "\u0080", "\u009f"])(
    "is not made with %j in its id",
    async (control) => {
      for (const id of [`a${control}b`, control, `${control}b`, `a${control}`, `likes:${control}`])
        await refuses(null, increment(`counters/${id}/shards/0`));
    },
  );

  test("accepts an increment on a shard that a server wrote by count alone", async () => {
    const shard = newShard();
    await store(shard, { count: 5 });
    await accepts(null, increment(shard));
    expect(numberOf((await read(shard)).count)).toBe(6);
  });

  const forms: Record<string, object> = {
    "by 2": { count: add(2) },
    "by -1": { count: add(-1) },
    "by a fraction": { count: add(0.5) },
    "by 0": { count: add(0) },
    "to NaN": { count: Number.NaN },
    "to Infinity": { count: Number.POSITIVE_INFINITY },
    "to a string": { count: "1" },
    "to null": { count: null },
    "without a count": { count: DELETED },
    "without counting the write": { writes: DELETED },
    "counting two writes": { writes: add(2) },
    "counting writes as a string": { writes: "1" },
    "without a time": { at: DELETED },
    "with a time of its own": { at: new Date(0) },
    "with a foreign field": { extra: 1 },
    "without its shard": { shard: DELETED },
    "as another shard": { shard: "1" },
    "as a shard that is a number": { shard: 0 },
    "without a mark": { marks: DELETED },
    "with no slot in the map": { marks: {} },
    "with marks that are a string": { marks: "abcd" },
    "with marks that are a list": { marks: [bytes(1, 2, 3, 4, 4)] },
    "with two slots": { marks: { 0: slot(nonce()), 1: slot(nonce()) } },
    "with a slot 5": { marks: { 5: slot(nonce()) } },
    "with a slot 10": { marks: { 10: slot(nonce()) } },
    "with a slot 07": { marks: { "07": slot(nonce()) } },
    "with a slot that is a string": { marks: { 0: "abcd" } },
    "with a slot that is null": { marks: { 0: null } },
    "with a slot without a time": { marks: { 0: { nonces: append(nonce()) } } },
    "with a slot with a time of its own": { marks: { 0: { ...slot(nonce()), at: new Date(0) } } },
    "with a slot without a nonce": { marks: { 0: { at: NOW } } },
    "with a slot with a foreign field": { marks: { 0: { ...slot(nonce()), by: 1 } } },
    "with two nonces": { marks: { [SLOT]: slot(nonce(), nonce()) } },
    "with no nonce in the list": { marks: { 0: { at: NOW, nonces: [] } } },
    "with a nonce of 4 bytes": { marks: { [SLOT]: slot(bytes(1, 2, 3, 4)) } },
    "with a nonce of 6 bytes": { marks: { [SLOT]: slot(bytes(1, 2, 3, 4, 5, 6)) } },
    "with a nonce that is a string": { marks: { [SLOT]: slot("abcd") } },
    "with a nonce that is a number": { marks: { [SLOT]: slot(12_345_678) } },
    "with a nonce that is null": { marks: { 0: slot(null) } },
    "with nonces that are a map": { marks: { 0: { at: NOW, nonces: { 0: bytes(1, 2, 3, 4, 4) } } } },
  };
  test.each(Object.entries(forms))("is not incremented %s, on a new shard or an old one", async (_, changes) => {
    const shard = newShard();
    await refuses(null, increment(shard, changes));
    await accepts(null, increment(shard));
    await refuses(null, increment(shard, changes));
  });

  /** An increment by absolute values, instead of transforms. */
  const to = (count: unknown) => (shard: string) => increment(shard, { count, writes: 2 });
  const by = (amount: unknown) => (shard: string) => increment(shard, { count: add(amount) });
  const two53 = 2 ** 53;
  test.each([
    ["no double on integers, since others could add 1 no more", integer(5), by(double(1)), refuses],
    ["no double on a new shard, either", undefined, by(double(1)), refuses],
    ["no -0 for 0", integer(-1), to(double("-0.0")), refuses],
    ["a double 1 on what is a double", double(0.5), by(double(1)), accepts],
    ["an integer on what is a double", double(5.5), by(1), accepts],
    ["an integer in place of a double", double(4), to(5), accepts],
    ["an integer up to 2^53 - 1", integer(two53 - 2), by(1), accepts],
    ["none of 2^53", integer(two53 - 1), by(1), refuses],
    ["no double of 2^53", double(two53 - 1), by(1), refuses],
    ["none beyond, where 1 is too little to change a double", double(two53), to(double(two53)), refuses],
    ["an integer from -2^53 + 1", integer(-two53), by(1), accepts],
    ["none below", double(-two53 - 2), by(1), refuses],
    ["not -Infinity", integer(0), to(double("-Infinity")), refuses],
    ["none after NaN", double("NaN"), by(1), refuses],
    ["none after Infinity", double("Infinity"), by(1), refuses],
    ["none that is more by a fraction", double(0.5), to(double(1.75)), refuses],
    ["none that is more by the least", integer(0), by(double(1 + 2 ** -52)), refuses],
  ] as const)("keeps to the limits of numbers: %s", async (_, count, write, outcome) => {
    const shard = newShard();
    if (count) await store(shard, { count, writes: 1 });
    const before = numberOf((await read(shard)).count) ?? 0;
    await outcome(null, write(shard));
    if (outcome === accepts) expect((numberOf((await read(shard)).count) as number) - before).toBe(1);
  });

  test("has one spelling of a shard's index, up to 9999", async () => {
    const counter = newCounter();
    for (const id of [
      "10000",
      "00",
      "01",
      "-1",
      "1.5",
      "base",
      "x",
      "1e3",
      " 1",
      "5\n",
      "+5",
      "-0",
      "0x5",
      "٥",
      "５",
      "\u0000",
    ])
      await refuses(null, increment(`${counter}/shards/${id}`));
  });

  test("has no entries: a client can neither create one nor delete a server's", async () => {
    const counter = newCounter();
    const entry = `${counter}/tallyEntries/alice`;
    await refuses("alice", set(entry, { once: "alice", by: 1, shard: "0", at: NOW }), increment(`${counter}/shards/0`));
    await store(entry, { by: 1, shard: "0" });
    await refuses("alice", remove(entry));
  });

  test("is closed where no function of the policy names its group", async () => {
    for (const user of [null, "alice"])
      for (const id of ["junk:x", "view:x", "views", "x", "Views:x", ":views"])
        await refuses(user, increment(`counters/${id}/shards/0`));
  });

  test("shows each shard to every client, lists them for operators, and lets no client replace or delete one", async () => {
    const shard = newShard();
    await accepts(null, increment(shard));
    await shows(shard, null, "alice");
    await shows(shard.slice(0, -2), OPERATOR);
    await hides(shard.slice(0, -2), null, "alice");
    await refuses("alice", remove(shard));
    const { mask: _, ...whole } = increment(shard, { count: 2, writes: 2 });
    await refuses("alice", whole);
    await refuses("alice", merge(shard, { count: 2 }));
  });
});
