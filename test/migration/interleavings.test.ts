/**
 * A move while old clients and Google's functions write, in orders that the tests choose; test/simulation chooses others, with lost
 * answers. The moves run in this process; no deployed function moves from these documents.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { disableNetwork, enableNetwork } from "firebase/firestore";
import { FieldPath, type Firestore } from "firebase-admin/firestore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { moveLegacyIncrements } from "../../firestore/src/index.ts";
import { aroundCommits, beforeFirstCommit, once } from "../../testkit/aroundCommits.ts";
import { admin, client } from "../../testkit/clients.ts";
import { type LegacyClient, legacyNodeClient, legacyWebClient } from "../../testkit/legacy/clients.ts";
import { compactPartial, moveIntoFields, moveIntoPartial, movePartial } from "../../testkit/legacy/functions.ts";
import { addedTo, LEGACY_SHARDS, type Sums, sumsIn } from "../../testkit/legacy/sums.ts";
import { openLegacyShards } from "./legacyRules.ts";

const FIELDS = ["visits", "stats.stars"];
/** The collection of the documents. */
const FOLDER = `legacy${process.pid}`;
/** What the ids of the clients begin with. */
const [PENDING, PARTIAL, LATER] = ["a", "b", "c"];

const web = client();
let closeShards: () => Promise<void>;
beforeAll(async () => {
  closeShards = await openLegacyShards(FOLDER);
});
afterAll(async () => {
  await closeShards();
  await web.close();
});

let documents = 0;

/**
 * A document with totals, shards of two clients whose ids begin with `PENDING`, and a partial shard of two whose ids begin with
 * `PARTIAL`.
 */
async function legacyDocument() {
  const collection = `moved${process.pid}`;
  const name = `${documents++}`;
  const document = `${FOLDER}/${name}`;
  const sources = FIELDS.map((field) => ({ counterId: `${field}:${name}`, field: field.split(".") }));
  const expected = new Map(FIELDS.map((field, index) => [field, 100 + index]));
  await admin.doc(document).set({ visits: 100, stats: { stars: 101, kept: "x" }, title: "kept" });

  /** Increments both fields, by different amounts. */
  async function increment(by: number, writer: LegacyClient = legacyNodeClient(admin)): Promise<void> {
    for (const [index, field] of FIELDS.entries()) {
      expected.set(field, (expected.get(field) ?? 0) + by + index);
      await writer.increment({ document, field, by: by + index });
    }
  }
  const move = (firestore: Firestore = admin) => moveLegacyIncrements(firestore, collection, document, sources);

  const ids = [PENDING, PENDING, PARTIAL, PARTIAL].map((prefix) => prefix + randomUUID());
  const clients = ids.map((id) => legacyNodeClient(admin, id));
  for (const [index, one] of clients.entries()) await increment(index + 1, one);
  await moveIntoPartial(admin, document, PARTIAL);

  return {
    document,
    clients: clients as [LegacyClient, ...LegacyClient[]],
    increment,
    move,
    /** What the fields and the shards add up to. */
    async shown(): Promise<Sums> {
      const { docs } = await admin.collection(`${document}/${LEGACY_SHARDS}`).get();
      const { visits, stats } = (await admin.doc(document).get()).data() ?? {};
      return addedTo(sumsIn(docs), { visits, stats: { stars: stats.stars } });
    },
    /** Each increment is in its counter and in its field once, no shard is left, and another move has nothing to do. */
    async isMoved(): Promise<void> {
      const shown = await admin.doc(document).get();
      const found = FIELDS.map(async (field, index) => {
        const base = await admin.doc(`${collection}/${sources[index]?.counterId}/shards/base`).get();
        return [field, shown.get(new FieldPath(...field.split("."))), base.get("count")];
      });
      expect(await Promise.all(found)).toEqual(
        FIELDS.map((field) => [field, expected.get(field), expected.get(field)]),
      );
      expect(shown.data()).toMatchObject({ title: "kept", stats: { kept: "x" } });
      expect((await admin.collection(`${document}/${LEGACY_SHARDS}`).get()).docs.map(({ id }) => id)).toEqual([]);
      expect(await move()).toMatchObject({ amounts: [0, 0], shards: 0 });
    },
  };
}
type LegacyDocument = Awaited<ReturnType<typeof legacyDocument>>;

/** What may be committed while a move is under way. */
const others: Record<string, (legacy: LegacyDocument) => Promise<unknown>> = {
  "the controller": ({ document }) => moveIntoFields(admin, [document]),
  "a worker, into its partial shard": ({ document }) => moveIntoPartial(admin, document, PENDING),
  "a worker, from its partial shard": ({ document }) => movePartial(admin, document, PARTIAL),
  "a worker that shortens its partial shard": ({ document }) => compactPartial(admin, document, PARTIAL),
  "a client that the move has seen": ({ increment, clients }) => increment(10, clients[0]),
  "a new client": ({ increment }) => increment(10),
  "a new client and a worker, which adds its increment to the field": async ({ document, increment }) => {
    await increment(10, legacyNodeClient(admin, LATER + randomUUID()));
    await moveIntoPartial(admin, document, LATER);
    await movePartial(admin, document, LATER);
    await compactPartial(admin, document, LATER);
  },
  "another move": ({ move }) => move(),
};
test.each(Object.entries(others))("between the reads of a move and its commit: %s", async (name, act) => {
  const legacy = await legacyDocument();
  await legacy.move(beforeFirstCommit(admin, () => act(legacy)));
  // The move does not see the new shard, whose event brings a move of its own.
  if (name === "a new client") await legacy.move();
  await legacy.isMoved();
});

/** Transactions that have locked what a move commits. */
const transactions: Record<string, (document: string, midway: () => Promise<void>) => Promise<unknown>> = {
  "the controller": (document, midway) => moveIntoFields(admin, [document], midway),
  "a worker": (document, midway) => moveIntoPartial(admin, document, PENDING, midway),
};

test.each(
  Object.keys(transactions).flatMap((name) => [
    [name, "commits"],
    [name, "is killed"],
  ]),
)("in the middle of a transaction of %s, which %s then", async (name, end) => {
  const legacy = await legacyDocument();
  let moving: Promise<unknown> | undefined;
  const midway = once(async () => {
    await new Promise<void>((resolve) => {
      moving = legacy.move(beforeFirstCommit(admin, async () => resolve()));
    });
    // Until then the commit waits. Firestore ends the transaction of a killed process like this, after a minute.
    await sleep(200);
    if (end === "is killed") throw new Error("killed");
  });
  const run = transactions[name]?.(legacy.document, midway);
  await (end === "is killed" ? expect(run).rejects.toThrow("killed") : run);
  await moving;
  await legacy.move();
  await legacy.isMoved();
});

test("two moves at once of what only the field has, which both leave as it is", async () => {
  const legacy = await legacyDocument();
  await legacy.move();
  await legacy.increment(4);
  await moveIntoFields(admin, [legacy.document]);
  await legacy.move(beforeFirstCommit(admin, legacy.move));
  await legacy.isMoved();
});

test("no commit of a move changes what old pages show: the field and the shards together", async () => {
  const legacy = await legacyDocument();
  const shown: unknown[] = [];
  const watched = aroundCommits(admin, async (commit) => {
    shown.push(await legacy.shown());
    const answer = await commit();
    shown.push(await legacy.shown());
    return answer;
  });
  await legacy.move(watched);
  expect(shown.length).toBeGreaterThan(1);
  for (const one of shown) expect(one).toEqual(shown[0]);
  await legacy.isMoved();
});

test("a page that was offline writes to its shard after that was moved and deleted", async () => {
  const legacy = await legacyDocument();
  const page = legacyWebClient(web);
  await legacy.increment(1, page);
  await disableNetwork(web.db);
  const late = [legacy.increment(2, page), legacy.increment(3, page)];
  await legacy.move();
  await enableNetwork(web.db);
  await Promise.all(late);
  await legacy.move();
  await legacy.isMoved();
});
