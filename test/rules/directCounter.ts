/** The rules of increments in the counter document. A part of rules.test.ts, which measures the coverage of all parts together. */
import { describe, expect, test } from "vitest";
import { DIRECT_SLOTS } from "../../core/src/index.ts";
import { withPolicy } from "../../testkit/rules.ts";
import { accepts, newCounter, PROJECT, RULES, read, refuses, store } from "./environment.ts";
import { numberOf } from "./fuzz/values.ts";
import { ADMIN, database, type Write } from "./rest.ts";
import {
  add,
  ago,
  append,
  DELETED,
  directIncrement,
  double,
  increment,
  like,
  merge,
  NOW,
  nonce,
  remove,
  set,
  slot,
  unlike,
} from "./writes.ts";

const total = async (counter: string) => numberOf((await read(counter)).total);

/** A published counter that is open in a generation. @param marks  by name of the slot: how many, and how many seconds old */
async function opened(generation: number, marks: Record<string, [count: number, seconds: number]> = {}, direct = {}) {
  const counter = newCounter();
  const slots = Object.entries(marks).map(([name, [count, seconds]]) => [
    name,
    { at: ago(seconds), nonces: Array.from({ length: count }, nonce) },
  ]);
  const stored = { open: true, generation, count: 0, writes: 0, marks: Object.fromEntries(slots), ...direct };
  await store(counter, { total: 5, asOf: ago(900), group: "views", shardCount: 1, direct: stored });
  return counter;
}

describe.concurrent("the document of an open counter", () => {
  test("is created by an increment, and takes four in a generation", async () => {
    const counter = newCounter();
    for (const user of [null, "alice", null, null]) await accepts(user, directIncrement(counter));
    await refuses(null, directIncrement(counter));
    expect(await total(counter)).toBe(4);
  });

  test("takes increments beside fields of the functions", async () => {
    const counter = await opened(7);
    await accepts(null, directIncrement(counter, 7));
    expect(await total(counter)).toBe(6);
    expect(numberOf((await read(counter)).shardCount)).toBe(1);
  });

  test("takes no replay, also not with another increment in between", async () => {
    const counter = newCounter();
    const first = directIncrement(counter);
    await accepts(null, first);
    await refuses(null, first);
    await accepts(null, directIncrement(counter));
    await refuses(null, first);
    expect(await total(counter)).toBe(2);
  });

  test("takes none that names another generation", async () => {
    const counter = await opened(7, { 7: [3, 5] });
    for (const generation of [6, 8, 0, 2, 15]) await refuses(null, directIncrement(counter, generation));
    await accepts(null, directIncrement(counter, 7));
  });

  test("begins the next generation if the last mark of a full one is a minute younger than that of the one before", async () => {
    const slow = await opened(7, { 6: [4, 70], 7: [4, 9] });
    await refuses(null, directIncrement(slow, 7));
    await accepts(null, directIncrement(slow, 8));
    await accepts(null, directIncrement(slow, 8));
    await refuses(null, directIncrement(slow, 7));
    const { direct } = await read(slow);
    const { fields } = (direct as { mapValue: { fields: Record<string, { mapValue: { fields: object } }> } }).mapValue;
    expect(Object.keys(fields.marks?.mapValue.fields ?? {}).sort()).toEqual(["0", "6", "7"]);
  });

  test.each([
    ["fast", { 6: [4, 68], 7: [4, 9] }],
    ["not full", { 6: [4, 900], 7: [3, 9] }],
    ["empty", {}],
  ] as const)("does not begin the next generation after one that is %s", async (_, marks) => {
    await refuses(null, directIncrement(await opened(7, marks as never), 8));
  });

  test("begins the next generation if the one before the full one had no marks", async () => {
    await accepts(null, directIncrement(await opened(7, { 7: [4, 9] }), 8));
  });

  const stored: Record<string, object> = {
    "is closed": { open: false },
    "is open by another value": { open: "true" },
    "has a count that is no integer": { count: double(0.5) },
  };
  test.each(Object.entries(stored))("takes none if it %s", async (_, direct) => {
    await refuses(null, directIncrement(await opened(7, {}, direct), 7));
  });

  test("takes none if the functions or a server made it without opening it, or its total is no integer", async () => {
    const [made, fraction] = [newCounter(), newCounter()];
    await store(made, { group: "views", total: 5, shardCount: 1 });
    await store(fraction, {
      group: "views",
      total: double(0.5),
      direct: { open: true, generation: 1, count: 0, writes: 0 },
    });
    for (const counter of [made, fraction]) for (const n of [0, 1]) await refuses(null, directIncrement(counter, n));
  });

  const forms: Record<string, Parameters<typeof directIncrement>[2]> = {
    "by 2": { by: 2 },
    "by -1": { by: -1 },
    "by 0": { by: 0 },
    "by a fraction": { by: 0.5 },
    "with a total that is more than the count": { total: add(2) },
    "with a total that is no integer": { total: double(1) },
    "with a count that is no integer": { direct: { count: double(1) } },
    "without counting the write": { direct: { writes: DELETED } },
    "counting two writes": { direct: { writes: add(2) } },
    "counting writes by a double": { direct: { writes: double(1) } },
    "without a mark": { direct: { marks: {} } },
    "with marks that are no map": { direct: { marks: "x" } },
    "with two marks": { marks: { 0: slot(nonce(), nonce()) } },
    "with a mark in another slot": { marks: { 0: DELETED, 2: slot(nonce()) } },
    "with marks in two slots": { marks: { 3: slot(nonce()) } },
    "with a mark in the slot of the next generation": { marks: { 1: slot(nonce()) } },
    "with a mark of six bytes": { marks: { 0: slot(Uint8Array.from([1, 2, 3, 4, 5, 6])) } },
    "with a mark that is a string": { marks: { 0: slot("abcde") } },
    "with a mark with a time of its own": { marks: { 0: { at: new Date(0), nonces: append(nonce()) } } },
    "with a foreign field in the slot": { marks: { 0: { ...slot(nonce()), extra: 1 } } },
    "in another generation": { direct: { generation: 1 } },
    "in a generation that is a string": { direct: { generation: "0" } },
    "without its generation": { direct: { generation: DELETED } },
    closed: { direct: { open: false } },
    "without being open": { direct: { open: DELETED } },
    "with a foreign part": { direct: { extra: 1 } },
    "with a foreign field": { extra: 1 },
    "with a time of a publish": { asOf: NOW },
    "of another group": { group: "likes" },
    "without its group": { group: DELETED },
  };
  test.each(Object.entries(forms))("is not created by an increment %s", async (_, changes) => {
    await refuses(null, directIncrement(newCounter(), 0, changes));
  });

  test.each(Object.entries(forms).filter(([what]) => !/ its group| open$/.test(what)))(
    "is not changed by an increment %s",
    async (_, changes) => {
      const counter = newCounter();
      await accepts(null, directIncrement(counter));
      await refuses(null, directIncrement(counter, 0, changes));
    },
  );

  test("is not left without its other marks, nor closed or replaced by a client", async () => {
    const counter = await opened(7, { 1: [4, 90], 2: [2, 9] });
    for (const name of ["1", "2"]) await refuses(null, merge(counter, { direct: { marks: { [name]: DELETED } } }));
    await refuses(null, directIncrement(counter, 7, { marks: { 1: DELETED } }));
    await refuses(null, merge(counter, { direct: { open: false } }));
  });

  test.each(["stock", "tickets", "votes", "other"])("is not created in the group %s", async (group) => {
    for (const user of [null, "alice"]) await refuses(user, directIncrement(newCounter(group)));
    await refuses("alice", ...like(newCounter(group), "alice", "direct"));
    const counter = newCounter(group);
    const [take] = like(counter, "alice", "direct", { by: -1 }) as [Write, Write];
    await refuses("alice", take, directIncrement(counter, 0, { by: -1 }));
  });

  test("is not created with a control character in its id", async () => {
    await refuses(null, directIncrement("counters/views:a\nb"));
  });

  test("takes no increment beyond 2^53, of the total or of the direct count", async () => {
    const most = 2 ** 53 - 1;
    const [full, fullDirect] = [newCounter(), newCounter()];
    const direct = (count: number) => ({ open: true, generation: 1, count, writes: 0 });
    await store(full, { group: "views", total: most, direct: direct(0) });
    await store(fullDirect, { group: "views", total: 0, direct: direct(most) });
    for (const counter of [full, fullDirect]) await refuses(null, directIncrement(counter, 1));
  });

  test("takes all increments without the functions: no shard does, and a fast generation takes forty", async () => {
    const without = withPolicy(RULES, "function hasFunctions() {\n        return false;\n      }");
    const project = await database(`${PROJECT}-without-functions`, without);
    const counter = newCounter();
    const joins = (generation: number) => project.commit(null, [directIncrement(counter, generation)]);
    // No generation came before the first one, so four marks are enough for it.
    for (const generation of [0, 0, 0, 0, 1]) expect(await joins(generation)).toBe(200);
    for (let n = 1; n < 40; n++) {
      expect(await joins(2)).toBe(403);
      expect(await joins(1)).toBe(200);
    }
    expect(await joins(1)).toBe(403);
    expect(await joins(2)).toBe(200);
    expect(await project.commit(null, [increment(`${counter}/shards/0`)])).toBe(403);
  });
});

describe.concurrent("a like in the counter document", () => {
  test("counts once per user, is undone, and counts again", async () => {
    const counter = newCounter("likes");
    await refuses("alice", directIncrement(counter));
    await accepts("alice", ...like(counter, "alice", "direct"));
    await refuses("alice", ...like(counter, "alice", "direct"));
    await refuses("alice", ...like(counter, "alice", "0"));
    await accepts("alice", ...unlike(counter, "alice", "direct"));
    await refuses("alice", ...unlike(counter, "alice", "direct"));
    await accepts("alice", ...like(counter, "alice", "direct"));
    expect(await total(counter)).toBe(1);
  });

  test("has an entry with its own increment alone", async () => {
    const counter = newCounter("likes");
    const [entry, write] = like(counter, "alice", "direct") as [Write, Write];
    await refuses("alice", entry);
    await refuses("alice", write);
    await refuses("alice", entry, increment(`${counter}/shards/0`));
    await refuses("alice", entry, write, increment(`${counter}/shards/0`));
    await refuses("alice", entry, write, directIncrement(counter));
    await refuses("alice", entry, directIncrement(counter, 0, { by: 2 }));
    await refuses("bob", entry, write);
    await accepts("alice", entry, write);
  });

  test("is undone in shard 0 while the document is full or closed, but never in both", async () => {
    const counter = newCounter("likes");
    const inShard = unlike(counter, "alice", "0");
    await accepts("alice", ...like(counter, "alice", "direct"));
    await refuses("alice", remove(`${counter}/tallyEntries/alice`));
    const decrement = directIncrement(counter, 0, { by: -1 });
    await refuses("alice", ...inShard, decrement);
    for (const shard of ["1", "7"]) await refuses("alice", ...unlike(counter, "alice", shard).reverse());
    await accepts("alice", ...inShard);
    await refuses("alice", decrement);
  });

  test("on a shard is not undone in the document or in shard 0", async () => {
    const counter = newCounter("likes");
    await accepts("bob", ...like(counter, "bob", "direct"));
    await accepts("alice", ...like(counter, "alice", "5"));
    for (const elsewhere of ["direct", "0"]) await refuses("alice", ...unlike(counter, "alice", elsewhere).reverse());
    await refuses("alice", ...unlike(counter, "alice", "5"), increment(`${counter}/shards/0`, { count: add(-1) }));
  });

  // The emulator enforces the limit, as Firestore does. A comparison and its `&&` are at least two expressions.
  test.each([
    [4, true],
    [40, false],
  ])(
    "with a rate limit and all slots of %d marks leaves a hundred of the 1,000 expressions to the policy, functions: %s",
    async (most, hasFunctions) => {
      const rules = [
        `function hasFunctions() {\n        return ${hasFunctions};\n      }`,
        `function isAllowedRate() {\n        return isWithinLimit('likes', 10, 60000, 10)${" && counter != ''".repeat(50)};\n      }`,
        "function isLimit() {\n        return limit in ['likes'];\n      }",
      ].reduce(withPolicy, RULES);
      const project = await database(`${PROJECT}-expressions-${most}`, rules);
      const counter = newCounter("likes");
      const slots = Array.from({ length: DIRECT_SLOTS - 1 }, (_, n): [string, object] => [
        `${n + 1}`,
        { at: ago(900 - 70 * n), nonces: Array.from({ length: most }, nonce) },
      ]);
      const direct = { open: true, generation: 15, count: 0, writes: 0, marks: Object.fromEntries(slots) };
      const limit = "tallyLimits/likes/tallyUses/alice";
      const use = {
        slot: 3,
        slots: { 3: NOW },
        for: { referenceValue: `${project.documents}/${counter}` },
        expireAt: ago(-172_800),
      };
      await project.commit(ADMIN, [
        set(counter, { total: 5, asOf: ago(900), group: "likes", shardCount: 1, direct }),
        set(limit, { ...use, slots: { 0: ago(900), 3: ago(800) } }),
      ]);
      const [entry] = like(counter, "alice", "direct") as [Write, Write];
      expect(await project.commit("alice", [merge(limit, use), entry, directIncrement(counter, 16)])).toBe(200);
    },
  );
});
