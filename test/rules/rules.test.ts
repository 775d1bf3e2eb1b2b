/**
 * The default rules: what they accept and what they reject. The parts register their tests here, because the coverage at the
 * end is that of one run over all of them.
 */
import { describe, expect, test } from "vitest";
import { gapsInRules } from "../../testkit/ruleCoverage.ts";
import { db, hides, newCounter, OPERATOR, PROJECT, refuses, shows, store } from "./environment.ts";
import { database } from "./rest.ts";
import { add, ago, merge, remove, set, update } from "./writes.ts";
import "./openCounter.ts";
import "./directCounter.ts";
import "./marks.ts";
import "./onceCounter.ts";
import "./stock.ts";
import "./topItems.ts";
import "./visitors.ts";
import "./limits.ts";
import "./oldClients.ts";

describe.concurrent("what the functions store", () => {
  test("the counter document is read by every client, and changed by none but for direct increments", async () => {
    const counter = newCounter();
    await store(counter, { total: 1 });
    await shows(counter, null, "alice");
    await refuses("alice", set(newCounter(), { total: 1 }));
    for (const changes of [{ total: add(1) }, { source: { entries: true } }])
      await refuses("alice", update(counter, changes));
    await refuses("alice", remove(counter));
    await refuses("alice", set(newCounter(), { source: { entries: true }, nextReconcileAt: ago(0) }));
    await refuses("alice", set(`${counter}/other/x`, { a: 1 }));
    await hides("posts/1", "alice");
  });

  test("corrections are read by operators alone, receipts by no client, and both are written by none", async () => {
    const counter = newCounter();
    const correction = `${counter}/tallyCorrections/one`;
    await store(correction, { expected: 1, found: 0, by: 1 });
    const claims = [{}, { operator: false }, { operator: "true" }, { operator: 1 }, { admin: true }];
    const others = [null, ...claims.map((claim) => ({ uid: "carol", ...claim }))];
    for (const path of [correction, `${counter}/tallyCorrections`]) {
      await shows(path, OPERATOR);
      await hides(path, ...others);
    }
    await hides(`${counter}/tallyReceipts/x`, null, OPERATOR);
    for (const user of [null, OPERATOR]) {
      await refuses(user, set(`${counter}/tallyCorrections/two`, { by: 1 }));
      await refuses(user, remove(correction));
    }
  });

  test("counters are listed and counted by every client, 100 at a time; shards by operators and, of stock, by users", async () => {
    const query = (collectionId: string, limit?: number) => ({ structuredQuery: { from: [{ collectionId }], limit } });
    const counted = (collectionId: string, limit?: number) => ({
      structuredAggregationQuery: { ...query(collectionId, limit), aggregations: [{ count: {} }] },
    });
    const status = async (user: Parameters<typeof db.call>[0], path: string, body: object) =>
      (await db.call(user, "POST", `${path}:${"structuredQuery" in body ? "runQuery" : "runAggregationQuery"}`, body))
        .status;
    for (const [limit, expected] of [
      [100, 200],
      [1, 200],
      [101, 403],
      [undefined, 403],
    ] as const)
      for (const body of [query("counters", limit), counted("counters", limit)])
        expect(await status(null, "", body), JSON.stringify(body)).toBe(expected);
    const skipping = { structuredQuery: { ...query("counters", 1).structuredQuery, offset: 1_000_000 } };
    expect(await status(null, "", skipping)).toBe(403);
    // Without a colon, which the emulator refuses in the path of a query.
    const shards = counted("shards");
    for (const body of [query("shards", 100), query("shards"), shards]) {
      for (const user of [null, "alice"]) expect(await status(user, "counters/views-x", body)).toBe(403);
      expect(await status(OPERATOR, "counters/views-x", body)).toBe(200);
    }
    await shows("counters/tickets:x/shards", OPERATOR, "alice");
    await hides("counters/tickets:x/shards", null);
  });

  test("history is read by every client, by document or by range within a counter, and written by none", async () => {
    // Without a colon, which the emulator refuses in the path of a query.
    const counter = newCounter().replace(":", "-");
    const hours = { points: { 14: { total: 1 } }, expireAt: ago(0) };
    const kept = `${counter}/tallyHistory/hours-2026-11-21`;
    await store(kept, hours);
    const from = { referenceValue: `${db.documents}/${counter}/tallyHistory/hours-2026-11-20` };
    const where = { fieldFilter: { field: { fieldPath: "__name__" }, op: "GREATER_THAN_OR_EQUAL", value: from } };
    const history = { collectionId: "tallyHistory" };
    for (const user of [null, "alice"]) {
      await shows(kept, user);
      const range = { structuredQuery: { from: [history], where, limit: 100 } };
      for (const limit of [101, undefined]) {
        const wide = { structuredQuery: { ...range.structuredQuery, limit } };
        expect((await db.call(user, "POST", `${counter}:runQuery`, wide)).status).toBe(403);
      }
      const found = await db.call(user, "POST", `${counter}:runQuery`, range);
      expect(found).toMatchObject({ status: 200, body: { document: { name: expect.stringContaining(kept) } } });
      const everywhere = { structuredQuery: { from: [{ ...history, allDescendants: true }] } };
      expect((await db.call(user, "POST", ":runQuery", everywhere)).status).toBe(403);
      for (const changed of [set(kept, hours), merge(kept, { points: { 14: { total: 2 } } })])
        await refuses(user, changed);
      await refuses(user, remove(kept));
      await refuses(user, set(`${counter}/tallyHistory/hours-2026-11-22`, hours));
    }
  });
});

test("every client may ask whether an instant is past, and write nothing there", async () => {
  const counter = newCounter();
  const at = (millis: number) => `${counter}/time/${Math.round(Date.now() + millis)}`;
  await hides(at(60_000), null, "alice", OPERATOR);
  for (const user of [null, "alice"]) {
    expect((await db.call(user, "GET", at(-60_000))).status).toBe(404);
    expect((await db.call(user, "GET", `${counter}/time/now`)).status).toBe(403);
    await refuses(user, set(at(-60_000), { a: 1 }));
  }
  await hides(`${counter}/time`, null, "alice");
});

describe("coverage", () => {
  /** Outcomes that no test of this project can reach, and why. */
  const unreachable = [
    // The default policy lets every client read.
    "mayReadCounter: never false",
    "mayReadCounter: never false",
    "mayReadCounter: never false",
    // Without functions, tested in a project of its own (`directCounter.ts`).
    "hasFunctions: never false",
    "mayReadCounter: never false",
    "mayReadCounter: never false",
    "mayReadCounter: never false",
    "mayReadCounter: never false",
    "(size >= 40 && !hasFunctions()): never true",
    "size >= 40: never true",
    "!hasFunctions: never evaluated",
    "hasFunctions: never evaluated",
    "hasFunctions: never false",
    // The emulator applies the rules to several writes of one document in a commit as one.
    "writesOf(getAfter(shard == 'direct' ? counterPath() : shardPath(shard)).data, shard) == writesOf(request.resource.data, shard): never false",
    "isOnlyWrite(shard): never false",
    "isOnlyWrite(shard): never false",
    // Tested in a project of its own (`visitors.ts`).
    "after.visitors.size() <= 5000: never false",
    "getAfter(request.path).data == request.resource.data: never false",
  ];

  test("these tests evaluate every expression of the rules, to true and to false", async () => {
    const gaps = await gapsInRules(PROJECT);
    const isKnown = new Set(unreachable);
    const message = "add a test for each of these expressions";
    expect(
      gaps.filter(({ what }) => !isKnown.has(what)),
      message,
    ).toEqual([]);
    expect(
      gaps.map(({ what }) => what),
      "a test reaches an outcome in the list `unreachable`: remove it there",
    ).toEqual(unreachable);
  });

  test("expressions that are never evaluated, or always have the same value, are reported", async () => {
    const project = `${PROJECT}-gaps`;
    const rules = `service cloud.firestore { match /databases/{database}/documents/{path=**} {
      function isOpen() { return request.time == request.time; }
      allow get: if isOpen() || request.auth.uid == 'x';
      allow create: if isOpen();
    } }`;
    await (await database(project, rules)).call(null, "GET", "a/b");
    expect(await gapsInRules(project)).toEqual([
      { line: 2, what: "request.time == request.time: never false" },
      { line: 3, what: "isOpen() || request.auth.uid == 'x': never false" },
      { line: 3, what: "isOpen: never false" },
      { line: 3, what: "request.auth.uid == 'x': never evaluated" },
      { line: 3, what: "request.auth.uid: never evaluated" },
      { line: 3, what: "request.auth: never evaluated" },
      { line: 3, what: "request: never evaluated" },
      { line: 4, what: "isOpen: never evaluated" },
    ]);
  });
});
