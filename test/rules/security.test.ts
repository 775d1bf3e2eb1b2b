/**
 * A hostile client: anything REST can say, against the default rules and against the edits that docs/security.md
 * advises. What it can do by design is here as well as what it cannot, so that neither changes unnoticed.
 */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { integer, nonceOf, numberOf } from "./fuzz/oracle.ts";
import { ADMIN, type Database, database, type User, type Value, type Write } from "./fuzz/rest.ts";

const RULES = readFileSync("firestore.rules", "utf8");
/** New with each run, so that no user has counted yet. */
const PROJECT = `demo-tally-security-${process.pid}`;
const [ACCEPTED, REFUSED, ABORTED] = [200, 403, 409];

let db: Database;
beforeAll(async () => {
  db = await database(PROJECT, RULES);
});

let made = 0;
/** A counter that no other test touches. */
const anew = (group = "views") => `counters/${group}:${made++}`;

let turn = 0;
const WINDOW = "7";
/** A good increment; `changes` spoil it. */
function increment(shard: string, by: Value = integer(1), changes: Partial<Write> = {}): Write {
  return {
    path: shard,
    set: { shard: { stringValue: shard.slice(shard.lastIndexOf("/") + 1) } },
    mask: ["shard"],
    transforms: [
      { fieldPath: "count", increment: by },
      { fieldPath: "writes", increment: integer(1) },
      { fieldPath: "at", setToServerValue: "REQUEST_TIME" },
      { fieldPath: `marks.\`${WINDOW}\`.at`, setToServerValue: "REQUEST_TIME" },
      { fieldPath: `marks.\`${WINDOW}\`.nonces`, appendMissingElements: { values: [nonceOf(turn++)] } },
    ],
    ...changes,
  };
}

/** The same with values of the client's own instead of transforms. */
function absolute(shard: string, count: Value, writes: Value): Write {
  const write = increment(shard);
  return {
    ...write,
    set: { ...write.set, count, writes },
    mask: [...(write.mask ?? []), "count", "writes"],
    transforms: write.transforms?.slice(2) ?? [],
  };
}

function like(counter: string, user: string, shard = "0"): Write[] {
  return [
    {
      path: `${counter}/entries/${user}`,
      set: { by: integer(1), shard: { stringValue: shard } },
      transforms: [{ fieldPath: "at", setToServerValue: "REQUEST_TIME" }],
    },
    increment(`${counter}/shards/${shard}`),
  ];
}

function unlike(counter: string, user: string, shard = "0", by = -1): Write[] {
  return [{ path: `${counter}/entries/${user}`, delete: true }, increment(`${counter}/shards/${shard}`, integer(by))];
}

async function countOf(shard: string): Promise<number> {
  return numberOf((await db.read([shard]))[shard]?.count) ?? 0;
}

const double = (doubleValue: number | string): Value => ({ doubleValue });

describe("whatever REST can say", () => {
  test("patch, create, delete, batchWrite and a transaction are judged as a commit is", async () => {
    const counter = anew();
    await db.commit(ADMIN, [{ path: counter, set: { total: integer(1) } }, increment(`${counter}/shards/0`)]);
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

  test("nothing is written under, beside or in the likeness of a counter", async () => {
    const counter = anew();
    for (const path of [
      ...["shards/base", "shards/add-x", "shards/0/shards/1", "shards/0/sub/x"],
      ...["receipts/x", "corrections/x", "history/x", "entries/alice", "other/x"],
    ]) {
      expect(await db.commit("alice", [increment(`${counter}/${path}`)]), path).toBe(REFUSED);
    }
    for (const path of ["Counters/x/shards/0", "counters /x/shards/0", "posts/1/counters/x/shards/0"]) {
      expect(await db.commit("alice", [increment(path)]), path).toBe(REFUSED);
    }
  });

  test("no shard goes by another spelling of its number", async () => {
    const counter = anew();
    for (const id of ["5\n", "5 ", "+5", "-0", "5.0", "0x5", "1e1", "00", "٥", "５", "\u0000", "10000"]) {
      expect(await db.commit(null, [increment(`${counter}/shards/${id}`)]), JSON.stringify(id)).toBe(REFUSED);
    }
  });

  const anEntry = "home/entries/alice";
  const query = (collectionId?: string, allDescendants = true) => ({
    structuredQuery: { from: [{ ...(collectionId && { collectionId }), allDescendants }] },
  });
  const count = (collectionId: string) => ({
    structuredAggregationQuery: { ...query(collectionId, false), aggregations: [{ alias: "n", count: {} }] },
  });
  test.each<User>([null, "bob"])(
    "entries, receipts and corrections are hidden from %j, however asked for",
    async (user) => {
      await db.commit(ADMIN, [
        { path: `counters/${anEntry}`, set: { by: integer(1), shard: { stringValue: "0" } } },
        { path: "counters/home/receipts/x", set: { expireAt: { timestampValue: "2030-01-01T00:00:00Z" } } },
        { path: "counters/home/corrections/x", set: { by: integer(1) } },
      ]);
      for (const [collection, id] of Object.entries({ entries: "alice", receipts: "x", corrections: "x" })) {
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
      for (const path of [":runQuery", "counters/home:runQuery"]) {
        expect(await db.call(user, "POST", path, query())).toMatchObject({ status: REFUSED });
      }
      expect(await db.call(user, "POST", "counters/home:listCollectionIds", {})).toMatchObject({ status: REFUSED });
    },
  );

  test("a user reads the own entry by its name alone, not by a list or a query of the own ones", async () => {
    const name = `projects/${PROJECT}/databases/(default)/documents/counters/${anEntry}`;
    const where = {
      fieldFilter: { field: { fieldPath: "__name__" }, op: "EQUAL", value: { referenceValue: name } },
    };
    const own = { structuredQuery: { from: [{ collectionId: "entries" }], where } };
    expect(await db.call("alice", "GET", `counters/${anEntry}`)).toMatchObject({ status: ACCEPTED });
    expect(await db.call("alice", "GET", "counters/home/entries")).toMatchObject({ status: REFUSED });
    expect(await db.call("alice", "POST", "counters/home:runQuery", own)).toMatchObject({ status: REFUSED });
  });

  test("by design: everyone lists every counter and every shard", async () => {
    const counter = anew();
    await db.commit(ADMIN, [{ path: counter, set: { total: integer(1) } }, increment(`${counter}/shards/0`)]);
    for (const path of ["counters", `${counter}/shards`]) {
      const { status, body } = await db.call(null, "GET", path);
      expect(status).toBe(ACCEPTED);
      expect((body.documents as unknown[]).length).toBeGreaterThan(0);
    }
  });
});

describe("one commit moves a shard by 1 or not at all", () => {
  const nonce = nonceOf(-1);
  const tricks: Record<string, (good: Write) => Partial<Write>> = {
    "a mark inside a mark": ({ transforms = [] }) => ({
      transforms: [...transforms, { fieldPath: "marks.`7`.x", setToServerValue: "REQUEST_TIME" }],
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
      transforms: [...transforms, { fieldPath: "marks.`8`.nonces", appendMissingElements: { values: [nonce] } }],
    }),
    "a nonce added, and others removed": ({ transforms = [] }) => ({
      transforms: [
        ...transforms,
        { fieldPath: "marks.`7`.nonces", removeAllFromArray: { values: [nonceOf(turn - 1)] } },
      ],
    }),
    "a time that the client says is now": ({ set, mask = [], transforms = [] }) => ({
      set: { ...set, at: { timestampValue: new Date().toISOString() } },
      mask: [...mask, "at"],
      transforms: [...transforms.slice(0, 2), ...transforms.slice(3)],
    }),
  };
  test.each(Object.entries(tricks))("not by %s", async (_, trick) => {
    const shard = `${anew()}/shards/0`;
    for (const count of [0, 1]) {
      const good = increment(shard);
      expect(await db.commit(null, [{ ...good, ...trick(good) }])).toBe(REFUSED);
      expect(await countOf(shard)).toBe(count);
      await db.commit(null, [increment(shard)]);
    }
  });

  test("what looks like a trick and is none counts 1 and stores nothing foreign", async () => {
    const shard = `${anew()}/shards/0`;
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

  const two53 = 2 ** 53;
  test.each<[what: string, before: Value, write: (shard: string) => Write, status: number]>([
    [
      "no double 1 on integers: others could add theirs no more",
      integer(5),
      (shard) => increment(shard, double(1)),
      REFUSED,
    ],
    ["no -0 for 0", integer(-1), (shard) => absolute(shard, double("-0.0"), integer(2)), REFUSED],
    ["a double 1 on what is a double", double(0.5), (shard) => increment(shard, double(1)), ACCEPTED],
    ["an integer in its place", double(4), (shard) => absolute(shard, integer(5), integer(2)), ACCEPTED],
    ["below 2^53", integer(two53 - 2), (shard) => increment(shard), ACCEPTED],
    ["not to 2^53", integer(two53 - 1), (shard) => increment(shard), REFUSED],
    ["nor as a double", double(two53 - 1), (shard) => increment(shard), REFUSED],
    ["nor beyond", double(two53), (shard) => absolute(shard, double(two53), integer(2)), REFUSED],
    ["up to -2^53 + 1", integer(-two53), (shard) => increment(shard), ACCEPTED],
    ["not below -2^53", double(-two53 - 2), (shard) => increment(shard), REFUSED],
    ["not to -Infinity", integer(0), (shard) => absolute(shard, double("-Infinity"), integer(2)), REFUSED],
    ["not from NaN", double("NaN"), (shard) => increment(shard), REFUSED],
    ["nor from Infinity", double("Infinity"), (shard) => increment(shard), REFUSED],
    ["by no more than 1 of a fraction", double(0.5), (shard) => absolute(shard, double(1.75), integer(2)), REFUSED],
    ["nor by the least more", integer(0), (shard) => increment(shard, double(1 + 2 ** -52)), REFUSED],
  ])("as numbers go: %s", async (_, before, write, status) => {
    const shard = `${anew()}/shards/0`;
    await db.commit(ADMIN, [{ path: shard, set: { count: before, writes: integer(1) } }]);
    const was = await countOf(shard);
    expect(await db.commit(null, [write(shard)])).toBe(status);
    if (status === ACCEPTED) expect((await countOf(shard)) - was).toBe(1);
  });

  test("not by several writes of one shard in it", async () => {
    const shard = `${anew()}/shards/0`;
    const remove: Write = { path: shard, delete: true };
    for (const count of [0, 1, 2]) {
      for (const writes of [
        [increment(shard, integer(2)), increment(shard, integer(-1))],
        [increment(shard, integer(1_000)), remove],
        [remove, increment(shard, integer(1_000))],
        [increment(shard), increment(shard), increment(shard)],
      ]) {
        await db.commit(null, writes);
        expect(await countOf(shard)).toBe(count);
      }
      expect(await db.commit(null, [increment(shard)])).toBe(ACCEPTED);
    }
  });

  test("not by values of its own in a race: as many count as were accepted", async () => {
    const shard = `${anew()}/shards/0`;
    let accepted = 0;
    for (let round = 0; round < 10; round++) {
      const [count, writes] = [integer(accepted + 1), integer(accepted + 1)];
      const race = Array.from({ length: 12 }, (_, n) => (n % 2 ? increment(shard) : absolute(shard, count, writes)));
      const statuses = await Promise.all(race.map((write) => db.commit(null, [write])));
      accepted += statuses.filter((status) => status === ACCEPTED).length;
      expect(await countOf(shard)).toBe(accepted);
    }
    expect(accepted).toBeGreaterThan(10);
  });
});

describe("once per user", () => {
  const odd = ["a%2Fb", "%", "$(x)", "{x}", "a b", "é", "a\nb", "", ".", "..", "*", "a?b#c", "'\"`\\", "a:b", "__x__"];
  test.each(odd)("whatever the counter is called: likes:%j", async (id) => {
    const counter = `counters/likes:${id}`;
    expect(await db.commit("alice", [increment(`${counter}/shards/0`)])).toBe(REFUSED);
    expect(await db.commit("alice", like(counter, "alice"))).toBe(ACCEPTED);
    expect(await db.commit("alice", like(counter, "alice", "1"))).toBe(REFUSED);
    expect(await db.commit("alice", unlike(counter, "alice"))).toBe(ACCEPTED);
    expect(await countOf(`${counter}/shards/0`)).toBe(0);
  });

  test.each(["a b", "é", "a%2Fb", "%2F", "$(x)", "..x", "a:b", "a'b"])(
    "whatever the user is called: %j",
    async (uid) => {
      const counter = anew("likes");
      expect(await db.commit(uid, like(counter, uid))).toBe(ACCEPTED);
      expect(await db.commit(uid, like(counter, uid, "1"))).toBe(REFUSED);
    },
  );

  test("by design: a user takes back what a server entered under the uid, as much as that was, once", async () => {
    const counter = anew("likes");
    const shard = `${counter}/shards/3`;
    await db.commit(ADMIN, [
      { path: `${counter}/entries/alice`, set: { by: integer(10), shard: { stringValue: "3" } } },
      { path: shard, set: { count: integer(10), writes: integer(1) } },
    ]);
    expect(await db.commit("alice", unlike(counter, "alice", "3", -11))).toBe(REFUSED);
    expect(await db.commit("alice", unlike(counter, "alice", "3", -10))).toBe(ACCEPTED);
    expect(await db.commit("alice", unlike(counter, "alice", "3", -10))).toBe(REFUSED);
    expect(await countOf(shard)).toBe(0);
  });

  test("by design: an undo takes back although the counter was reset meanwhile, below what it was reset to", async () => {
    const counter = anew("likes");
    await db.commit("alice", like(counter, "alice"));
    await db.commit(ADMIN, [{ path: `${counter}/shards/base`, set: { count: integer(-1) } }]);
    expect(await db.commit("alice", unlike(counter, "alice"))).toBe(ACCEPTED);
    expect((await countOf(`${counter}/shards/0`)) + (await countOf(`${counter}/shards/base`))).toBe(-1);
  });

  test("by design: as many accounts count as often", async () => {
    const counter = anew("likes");
    for (let n = 0; n < 20; n++) expect(await db.commit(`sock${n}`, like(counter, `sock${n}`))).toBe(ACCEPTED);
    expect(await countOf(`${counter}/shards/0`)).toBe(20);
  });
});

describe("by design, without an account", () => {
  test("one request makes as many counters as it has writes, of any id", async () => {
    const counters = Array.from({ length: 500 }, () => anew("junk"));
    expect(
      await db.commit(
        null,
        [...counters, `counters/${"x".repeat(1_500)}`].map((id) => increment(`${id}/shards/0`)),
      ),
    ).toBe(ACCEPTED);
  });

  test("one request spreads a counter over as many shards as it has writes, up to index 9999", async () => {
    const counter = anew();
    const writes = Array.from({ length: 100 }, (_, n) => increment(`${counter}/shards/${9_999 - n}`));
    expect(await db.commit(null, writes)).toBe(ACCEPTED);
    const { body } = await db.call(null, "GET", `${counter}/shards?pageSize=150`);
    expect(body.documents).toHaveLength(100);
  });

  test("who knows the nonce of another's increment, before it arrives, has it refused, at the price of counting", async () => {
    const shard = `${anew()}/shards/0`;
    const victims = increment(shard);
    turn--;
    expect(await db.commit("mallory", [increment(shard)])).toBe(ACCEPTED);
    expect(await db.commit(null, [victims])).toBe(REFUSED);
    expect(await countOf(shard)).toBe(1);
  });

  test("no client makes another's replay count: not with a thousand writes, nor by tidying", async () => {
    const shard = `${anew()}/shards/0`;
    const victims = increment(shard);
    expect(await db.commit(null, [victims])).toBe(ACCEPTED);
    for (let n = 0; n < 10; n++) {
      await Promise.all(Array.from({ length: 100 }, () => db.commit("mallory", [increment(shard)])));
    }
    const remove: Write = { path: shard, set: {}, mask: [`marks.\`${WINDOW}\``] };
    expect(await db.commit("mallory", [remove])).toBe(REFUSED);
    const counted = await countOf(shard);
    expect(counted).toBeGreaterThan(100);
    expect(await db.commit(null, [victims])).toBe(REFUSED);
    expect(await countOf(shard)).toBe(counted);
  });

  test("who reads a shard in a transaction of REST keeps others from writing it; the emulator takes the lock", async () => {
    const shard = `${anew()}/shards/0`;
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

// ── What a developer writes into the rules ────────────────────────────────────────────────────────────────────────

/** The rules with a function of theirs replaced by one of the same name. */
function edited(edit: string): string {
  const name = /^function (\w+)\(/.exec(edit)?.[1];
  const place = new RegExp(`^ {4}function ${name}\\([\\s\\S]*?\n {4}\\}\n`, "m");
  if (!place.test(RULES)) throw new Error(`there is no place in firestore.rules for this edit:\n${edit}`);
  return RULES.replace(place, () => `${edit}\n`);
}

let projects = 0;
const withRules = (rules: string) => database(`${PROJECT}-edited-${projects++}`, rules);

describe("a careless edit of the rules", () => {
  test("that allows everything, anywhere in them, opens the counters too", async () => {
    const all = "match /{document=**} { allow read, write: if request.auth != null; }\n";
    const open = await withRules(RULES.replace(/^ {4}match \/counters/m, (match) => `    ${all}${match}`));
    expect(await open.commit(null, [{ path: "counters/x", set: { total: integer(1) } }])).toBe(REFUSED);
    expect(await open.commit("alice", [{ path: "counters/x", set: { total: integer(1) } }])).toBe(ACCEPTED);
    expect(await open.commit("alice", [{ path: "counters/x/shards/base", set: { count: integer(1e6) } }])).toBe(
      ACCEPTED,
    );
    expect(await open.call("bob", "GET", "counters/x/entries")).toMatchObject({ status: ACCEPTED });
  });

  test("that allows any positive amount lets one write fill a shard, which then refuses everyone", async () => {
    const any = await withRules(edited("function isAllowedAmount(counter, by) { return by > 0; }"));
    expect(await any.commit(null, [increment("counters/x/shards/0", integer(2 ** 53 - 1))])).toBe(ACCEPTED);
    expect(await any.commit(null, [increment("counters/x/shards/0")])).toBe(REFUSED);
    expect(await any.commit(null, [increment("counters/x/shards/1", double("Infinity"))])).toBe(REFUSED);
  });

  test("that allows fractions lets nobody close a shard to increments by 1", async () => {
    const any = await withRules(edited("function isAllowedAmount(counter, by) { return by == 1 || by == 31.99; }"));
    // A shard of integers takes no double; only a server makes one of doubles.
    expect(await any.commit(null, [increment("counters/x/shards/0", double(31.99))])).toBe(REFUSED);
    expect(await any.commit(null, [increment("counters/x/shards/0")])).toBe(ACCEPTED);
  });

  test("that allows no key makes an open counter of likes", async () => {
    const none = await withRules(edited("function isKeyed(counter) { return false; }"));
    expect(await none.commit(null, [increment("counters/likes:x/shards/0")])).toBe(ACCEPTED);
    expect(await none.commit("alice", like("counters/likes:x", "alice"))).toBe(REFUSED);
  });
});

describe("the edits that docs/security.md advises:", () => {
  const document = readFileSync("docs/security.md", "utf8");
  /** A rules block, by the heading it stands under. */
  const advice = (heading: string) => {
    const section = document.split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`));
    const block = /^```rules\n([\s\S]*?)\n```$/m.exec(section ?? "")?.[1];
    if (!block) throw new Error(`docs/security.md has no rules under "${heading}"`);
    return withRules(edited(block));
  };

  test("only the ids you use", async () => {
    const rules = await advice("Only the ids you use");
    expect(await rules.commit(null, [increment("counters/views:home-1/shards/0")])).toBe(ACCEPTED);
    for (const id of ["views:", "junk:home", "home", "views:BUY NOW", `views:${"x".repeat(41)}`, "views:a\nb"]) {
      expect(await rules.commit(null, [increment(`counters/${id}/shards/0`)]), id).toBe(REFUSED);
    }
  });

  test("only the counters your server has made", async () => {
    const rules = await advice("Only the counters your server has made");
    expect(await rules.commit(null, [increment("counters/views:made/shards/0")])).toBe(REFUSED);
    await rules.commit(ADMIN, [{ path: "counters/views:made", set: { total: integer(0) } }]);
    expect(await rules.commit(null, [increment("counters/views:made/shards/0")])).toBe(ACCEPTED);
    expect(await rules.commit(null, [increment("counters/views:other/shards/0")])).toBe(REFUSED);
  });

  test("only accounts with a verified address", async () => {
    const rules = await advice("Only accounts with a verified address");
    expect(await rules.commit("alice", like("counters/likes:x", "alice"))).toBe(REFUSED);
    expect(await rules.commit({ uid: "bob", email_verified: false }, like("counters/likes:x", "bob"))).toBe(REFUSED);
    expect(await rules.commit({ uid: "carol", email_verified: true }, like("counters/likes:x", "carol"))).toBe(
      ACCEPTED,
    );
    // Who may count may always take it back.
    expect(await rules.commit("carol", unlike("counters/likes:x", "carol"))).toBe(ACCEPTED);
  });
});
