/**
 * A hostile client: requests over REST against the default rules. The tests show what it cannot do, and what it can do by
 * design.
 */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { integer, nonceOf, numberOf } from "./fuzz/values.ts";
import { ADMIN, type Database, database, type User, type Write } from "./rest.ts";
import { add, DELETED, increment, lastNonce, like, remove, SLOT, set, unlike, update } from "./writes.ts";

const RULES = readFileSync("firestore.rules", "utf8");
/** A new project for each run, so that no user has counted yet. */
const PROJECT = `demo-tally-security-${process.pid}`;
const [ACCEPTED, REFUSED, ABORTED] = [200, 403, 409];

let db: Database;
beforeAll(async () => {
  db = await database(PROJECT, RULES);
});

let created = 0;
/** A counter that no other test uses. */
const newCounter = (group = "views") => `counters/${group}:${created++}`;

async function countOf(shard: string): Promise<number> {
  return numberOf((await db.read([shard]))[shard]?.count) ?? 0;
}

describe.concurrent("requests over REST", () => {
  test("PATCH, POST, DELETE, batchWrite and transactions obey the same rules as commits", async () => {
    const counter = newCounter();
    await db.commit(ADMIN, [set(counter, { total: 1 }), increment(`${counter}/shards/0`)]);
    const name = `projects/${PROJECT}/databases/(default)/documents/${counter}`;
    const total = { fields: { total: integer(99) } };
    for (const user of [null, "alice"]) {
      const { body } = await db.call(user, "POST", ":beginTransaction", {});
      const writes = [{ update: { name, ...total } }];
      const answers = [
        await db.call(user, "POST", ":commit", { transaction: body.transaction, writes }),
        await db.call(user, "PATCH", counter, total),
        await db.call(user, "PATCH", `${counter}/shards/0`, { fields: { count: integer(99) } }),
        await db.call(user, "POST", "counters?documentId=views:new", total),
        await db.call(user, "DELETE", `${counter}/shards/0`),
        await db.call(user, "DELETE", counter),
        await db.call(user, "POST", ":batchWrite", { writes }),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => REFUSED));
    }
    expect(await countOf(`${counter}/shards/0`)).toBe(1);
  });

  test("no document is written below a counter, beside one, or at a similar path", async () => {
    const counter = newCounter();
    for (const path of [
      ...["shards/base", "shards/add-x", "shards/0/shards/1", "shards/0/sub/x"],
      ...["receipts/x", "corrections/x", "history/x", "entries/alice", "other/x"],
    ]) {
      expect(await db.commit("alice", [increment(`${counter}/${path}`)]), path).toBe(REFUSED);
    }
    for (const path of [
      "tallyReceipts/x",
      "Counters/x/shards/0",
      "counters /x/shards/0",
      "posts/1/counters/x/shards/0",
    ]) {
      expect(await db.commit("alice", [increment(path)]), path).toBe(REFUSED);
    }
  });

  const anEntry = "home/tallyEntries/alice";
  /** What a server asks, to find all that an account has counted. */
  const entriesOf = (once: string) => ({
    structuredQuery: {
      from: [{ collectionId: "tallyEntries", allDescendants: true }],
      where: { fieldFilter: { field: { fieldPath: "once" }, op: "EQUAL", value: { stringValue: once } } },
    },
  });
  const query = (collectionId?: string, allDescendants = true) => ({
    structuredQuery: { from: [{ ...(collectionId && { collectionId }), allDescendants }] },
  });
  const count = (collectionId: string) => ({
    structuredAggregationQuery: { ...query(collectionId, false), aggregations: [{ alias: "n", count: {} }] },
  });
  test.each<User>([null, "bob"])("no request shows entries, receipts or corrections to %j", async (user) => {
    await db.commit(ADMIN, [
      set(`counters/${anEntry}`, { once: "alice", by: 1, shard: "0" }),
      set("counters/home/tallyReceipts/x", { expireAt: new Date("2030-01-01") }),
      set("counters/home/tallyCorrections/x", { by: 1 }),
    ]);
    for (const [collection, id] of Object.entries({
      tallyEntries: "alice",
      tallyReceipts: "x",
      tallyCorrections: "x",
    })) {
      const answers = [
        await db.call(user, "GET", `counters/home/${collection}/${id}`),
        await db.call(user, "GET", `counters/home/${collection}`),
        await db.call(user, "GET", `counters/home/${collection}?showMissing=true`),
        await db.call(user, "POST", "counters/home:runQuery", query(collection, false)),
        await db.call(user, "POST", "counters/home:runQuery", query(collection)),
        await db.call(user, "POST", ":runQuery", query(collection)),
        await db.call(user, "POST", "counters/home:runAggregationQuery", count(collection)),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => REFUSED));
    }
    await db.commit(ADMIN, [set("tallyReceipts/x", { expireAt: new Date("2030-01-01") })]);
    for (const path of ["tallyReceipts", "tallyReceipts/x"])
      expect(await db.call(user, "GET", path)).toMatchObject({ status: REFUSED });
    for (const once of ["alice", "bob"])
      expect(await db.call(user, "POST", ":runQuery", entriesOf(once))).toMatchObject({ status: REFUSED });
    for (const path of [":runQuery", "counters/home:runQuery"]) {
      expect(await db.call(user, "POST", path, query())).toMatchObject({ status: REFUSED });
    }
    expect(await db.call(user, "POST", "counters/home:listCollectionIds", {})).toMatchObject({ status: REFUSED });
  });
});

describe.concurrent("a commit adds 1 to a shard or is refused", () => {
  const nonce = nonceOf(-1);
  const tricks: Record<string, (good: Write) => Partial<Write>> = {
    "a mark inside a mark": ({ transforms = [] }) => ({
      transforms: [...transforms, { fieldPath: "marks.`2`.x", setToServerValue: "REQUEST_TIME" }],
    }),
    "a mask that deletes the count": ({ mask = [], transforms = [] }) => ({
      mask: [...mask, "count"],
      transforms: transforms.slice(1),
    }),
    "the increment twice": ({ transforms = [] }) => ({ transforms: [...transforms, ...transforms.slice(0, 1)] }),
    "41, then 1 more": ({ set, mask = [] }) => ({ set: { ...set, count: integer(41) }, mask: [...mask, "count"] }),
    "an increment inside the count": ({ transforms = [] }) => ({
      transforms: [{ fieldPath: "count.x", increment: integer(1) }, ...transforms.slice(1)],
    }),
    "a maximum": ({ transforms = [] }) => ({
      transforms: [{ fieldPath: "count", maximum: integer(1e9) }, ...transforms.slice(1)],
    }),
    "a list of marks": ({ transforms = [] }) => ({
      transforms: [...transforms.slice(0, 3), { fieldPath: "marks", appendMissingElements: { values: [nonce] } }],
    }),
    "a time for a mark": ({ transforms = [] }) => ({
      transforms: [...transforms.slice(0, 3), { fieldPath: "marks.`3`", setToServerValue: "REQUEST_TIME" }],
    }),
    "a nonce that the shard has, among the new": ({ transforms = [] }) => ({
      transforms: [...transforms, { fieldPath: "marks.`4`.nonces", appendMissingElements: { values: [nonce] } }],
    }),
    "a nonce added, and others removed": ({ transforms = [] }) => ({
      transforms: [...transforms, { fieldPath: "marks.`2`.nonces", removeAllFromArray: { values: [lastNonce()] } }],
    }),
    "a time that the client says is now": ({ set, mask = [], transforms = [] }) => ({
      set: { ...set, at: { timestampValue: new Date().toISOString() } },
      mask: [...mask, "at"],
      transforms: [...transforms.slice(0, 2), ...transforms.slice(3)],
    }),
  };
  test.each(Object.entries(tricks))("refused: %s", async (_, trick) => {
    const shard = `${newCounter()}/shards/0`;
    for (const count of [0, 1]) {
      const good = increment(shard);
      expect(await db.commit(null, [{ ...good, ...trick(good) }])).toBe(REFUSED);
      expect(await countOf(shard)).toBe(count);
      await db.commit(null, [increment(shard)]);
    }
  });

  test("unusual but valid commits add 1 and store no foreign field", async () => {
    const shard = `${newCounter()}/shards/0`;
    const { set, mask = [], transforms = [], ...rest } = increment(shard);
    const extra = { ...set, extra: integer(1) };
    const quoted = [{ fieldPath: "`count`", increment: integer(1) }, ...transforms.slice(1)];
    expect(await db.commit(null, [{ ...rest, set: extra, mask, transforms: quoted }])).toBe(ACCEPTED);
    const { mask: slot = [], ...good } = increment(shard);
    expect(await db.commit(null, [{ ...good, mask: [...slot, "extra"] }])).toBe(ACCEPTED);
    const after = (await db.read([shard]))[shard] ?? {};
    expect(Object.keys(after).sort()).toEqual(["at", "count", "marks", "shard", "writes"]);
    expect(numberOf(after.count)).toBe(2);
  });

  test("refused: several writes of one shard that do not add up to 1 each", async () => {
    const shard = `${newCounter()}/shards/0`;
    for (const count of [0, 1]) {
      for (const writes of [
        [increment(shard, { count: add(2) }), increment(shard, { count: add(-1) })],
        [increment(shard, { count: add(1_000) }), remove(shard)],
        [remove(shard), increment(shard, { count: add(1_000) })],
        [increment(shard), increment(shard), increment(shard)],
      ]) {
        await db.commit(null, writes);
        expect(await countOf(shard)).toBe(count);
      }
      expect(await db.commit(null, [increment(shard)])).toBe(ACCEPTED);
    }
  });

  test("absolute values in a race add 1 for each accepted commit", async () => {
    const shard = `${newCounter()}/shards/0`;
    let accepted = 0;
    for (let round = 0; round < 3; round++) {
      const absolute = { count: accepted + 1, writes: accepted + 1 };
      const race = Array.from({ length: 8 }, (_, n) => increment(shard, n % 2 ? {} : absolute));
      const statuses = await Promise.all(race.map((write) => db.commit(null, [write])));
      accepted += statuses.filter((status) => status === ACCEPTED).length;
      expect(await countOf(shard)).toBe(accepted);
    }
    expect(accepted).toBeGreaterThan(3);
  });
});

describe.concurrent("once per user", () => {
  const odd = ["a%2Fb", "%", "$(x)", "{x}", "a b", "é", "", ".", "..", "*", "a?b#c", "'\"`\\", "a:b", "__x__"];
  test.each(odd)("on the counter likes:%j", async (id) => {
    const counter = `counters/likes:${id}`;
    expect(await db.commit("alice", [increment(`${counter}/shards/0`)])).toBe(REFUSED);
    expect(await db.commit("alice", like(counter, "alice"))).toBe(ACCEPTED);
    expect(await db.commit("alice", like(counter, "alice", "1"))).toBe(REFUSED);
    expect(await db.commit("alice", unlike(counter, "alice"))).toBe(ACCEPTED);
    expect(await countOf(`${counter}/shards/0`)).toBe(0);
  });

  test.each(["a b", "é", "a%2Fb", "%2F", "$(x)", "..x", "a:b", "a'b"])("as the user %j", async (uid) => {
    const counter = newCounter("likes");
    expect(await db.commit(uid, like(counter, uid))).toBe(ACCEPTED);
    expect(await db.commit(uid, like(counter, uid, "1"))).toBe(REFUSED);
  });

  test("by design: a user undoes an entry that a server made for the uid, by its amount, once", async () => {
    const counter = newCounter("likes");
    const shard = `${counter}/shards/3`;
    await db.commit(ADMIN, [
      set(`${counter}/tallyEntries/alice`, { by: 10, shard: "3" }),
      set(shard, { count: 10, writes: 1 }),
    ]);
    expect(await db.commit("alice", unlike(counter, "alice", "3", -11))).toBe(REFUSED);
    expect(await db.commit("alice", unlike(counter, "alice", "3", -10))).toBe(ACCEPTED);
    expect(await db.commit("alice", unlike(counter, "alice", "3", -10))).toBe(REFUSED);
    expect(await countOf(shard)).toBe(0);
  });

  test("by design: an undo after a reset lowers the total below what it was reset to", async () => {
    const counter = newCounter("likes");
    await db.commit("alice", like(counter, "alice"));
    await db.commit(ADMIN, [set(`${counter}/shards/base`, { count: -1 })]);
    expect(await db.commit("alice", unlike(counter, "alice"))).toBe(ACCEPTED);
    expect((await countOf(`${counter}/shards/0`)) + (await countOf(`${counter}/shards/base`))).toBe(-1);
  });
});

describe.concurrent("by design, without an account", () => {
  test("one request makes a counter of an open group with each of its writes, with any name", async () => {
    const counters = Array.from({ length: 50 }, () => newCounter("views"));
    const writes = [...counters, `counters/views:${"x".repeat(1_494)}`].map((id) => increment(`${id}/shards/0`));
    expect(await db.commit(null, writes)).toBe(ACCEPTED);
    expect(await db.commit(null, [...writes.slice(1), increment("counters/junk:x/shards/0")])).toBe(REFUSED);
  });

  test("one request makes a shard with each of its writes, up to index 9999", async () => {
    const counter = newCounter();
    const writes = Array.from({ length: 50 }, (_, n) => increment(`${counter}/shards/${9_999 - n}`));
    expect(await db.commit(null, writes)).toBe(ACCEPTED);
    const { body } = await db.call(ADMIN, "GET", `${counter}/shards?pageSize=150`);
    expect(body.documents).toHaveLength(50);
  });

  test("no client makes another's replay count, neither with a thousand writes nor by removing slots", {
    tags: "deep",
  }, async () => {
    const shard = `${newCounter()}/shards/0`;
    const replayed = increment(shard);
    expect(await db.commit(null, [replayed])).toBe(ACCEPTED);
    for (let n = 0; n < 10; n++) {
      await Promise.all(Array.from({ length: 100 }, () => db.commit("mallory", [increment(shard)])));
    }
    expect(await db.commit("mallory", [update(shard, { marks: { [SLOT]: DELETED } })])).toBe(REFUSED);
    const counted = await countOf(shard);
    expect(counted).toBeGreaterThan(100);
    expect(await db.commit(null, [replayed])).toBe(REFUSED);
    expect(await countOf(shard)).toBe(counted);
  });

  test("a transaction over REST locks the shards that it reads, in the emulator", async () => {
    const shard = `${newCounter()}/shards/0`;
    await db.commit(null, [increment(shard)]);
    const { body } = await db.call(null, "POST", ":beginTransaction", { options: { readWrite: {} } });
    const { transaction } = body;
    const documents = [`projects/${PROJECT}/databases/(default)/documents/${shard}`];
    await db.call(null, "POST", ":batchGet", { documents, transaction });
    expect(await db.commit(null, [increment(shard)])).toBe(ABORTED);
    await db.call(null, "POST", ":rollback", { transaction });
    expect(await db.commit(null, [increment(shard)])).toBe(ACCEPTED);
  });
});
