/** Bounded counters, from the clients of both SDKs through the rules and the deployed functions. */
import { isDeepStrictEqual } from "node:util";
import { disableNetwork, enableNetwork } from "firebase/firestore";
import { counter, getIncremented, onCounter, takeFromCounter, undoIncrement } from "firestore-tally";
import {
  ensureCounter,
  incrementCounter,
  reconcileCounter,
  resetCounter,
  counter as serverCounter,
  takeFromCounter as takeOnServer,
  undoIncrement as undoOnServer,
} from "firestore-tally/admin";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_TAKE } from "../../core/src/index.ts";
import { admin, adminAt, type Client, client, signIn } from "../../testkit/clients.ts";
import { startMeter } from "../../testkit/meter.ts";
import { loadRules, OPEN_RULES } from "../../testkit/rules.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { delayingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";

const BUYERS = 12;
let buyers: { client: Client; uid: string }[];
beforeAll(async () => {
  buyers = await Promise.all(
    Array.from({ length: BUYERS }, async () => {
      const one = client();
      return { client: one, uid: await signIn(one) };
    }),
  );
});
afterAll(() => Promise.all(buyers.map((one) => one.client.close())));

const buyer = (index: number) => buyers[index % BUYERS] as (typeof buyers)[number];
const take = (index: number, id: string, n = 1) => {
  const { client, uid } = buyer(index);
  return takeFromCounter(counter(client.db, id), n, { once: uid });
};
const phaseOf = async (id: string) => (await admin.doc(`counters/${id}`).get()).get("phase");
const stockOf = async (id: string) => (await admin.doc(`counters/${id}`).get()).get("stock");
const countsOf = async (id: string) =>
  Object.fromEntries(
    (await admin.collection(`counters/${id}/shards`).get()).docs.map((shard) => [shard.id, shard.get("count")]),
  );
const soldOut = { code: "counter/sold-out" };

describe("stock", () => {
  test.concurrent("is spread at once, taken once per user, given back, and sold out", async () => {
    const id = "tickets:few";
    const stock = serverCounter(admin, id);
    await ensureCounter(stock, { initial: 100, bounded: true, shards: 4 });
    await ensureCounter(stock, { initial: 900, bounded: true });
    expect(await countsOf(id)).toEqual({ base: 0, 0: 25, 1: 25, 2: 25, 3: 25 });
    expect(await take(0, id, 7)).toBe(7);
    expect(await take(0, id, 3)).toBe(7);
    expect(await sumOfIncrements(id)).toBe(93);
    await undoIncrement(counter(buyer(0).client.db, id), buyer(0).uid);
    expect(await sumOfIncrements(id)).toBe(100);
    expect(await takeOnServer(stock, 95, { once: "recall" })).toBe(95);
    expect(await takeOnServer(stock, 5, { once: "recall" })).toBe(95);
    await expect(take(1, id, 6)).rejects.toMatchObject(soldOut);
    await expect(takeOnServer(stock, 6)).rejects.toMatchObject(soldOut);
    expect(await take(1, id, 5)).toBe(5);
    await expect(take(2, id)).rejects.toMatchObject(soldOut);
    await until(async () => (await readPublished(id))?.total === 0, "the total");
    expect(await stockOf(id)).toEqual({});
    await undoOnServer(stock, "recall");
    expect(await take(2, id)).toBe(1);
    expect(await sumOfIncrements(id)).toBe(94);
  });

  test.concurrent("moves to shard 0 as it runs out, and over more shards as it is restocked", async () => {
    const id = "tickets:moving";
    const stock = serverCounter(admin, id);
    await ensureCounter(stock, { initial: 200, bounded: true, shards: 10 });
    await takeOnServer(stock, 190);
    await until(async () => (await countsOf(id))["0"] === 10, "the last units to be in shard 0");
    await incrementCounter(stock, 390);
    const even = Object.fromEntries(Array.from({ length: 10 }, (_, shard) => [`${shard}`, 40]));
    await until(async () => isDeepStrictEqual(await stockOf(id), even), "40 units in each shard");
    expect(await sumOfIncrements(id)).toBe(400);
  });

  test.concurrent("is published, though a shard that should give stays locked", { tags: ["deep"] }, async () => {
    const id = "tickets:locked";
    const shards = admin.collection(`counters/${id}/shards`);
    await ensureCounter(serverCounter(admin, id), { initial: 100, bounded: true, shards: 5 });
    const unlock = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const locking = admin.runTransaction(async (transaction) => {
      await transaction.get(shards.doc("3"));
      locked.resolve();
      await unlock.promise;
    });
    try {
      await locked.promise;
      const batch = admin.batch();
      for (const shard of ["0", "1", "2", "4"]) batch.update(shards.doc(shard), { count: 0 });
      await batch.commit();
      await until(async () => (await readPublished(id))?.total === 20, "the total");
      expect(await stockOf(id)).toEqual({ 3: 20 });
    } finally {
      unlock.resolve();
    }
    await locking;
    await until(async () => isDeepStrictEqual(await stockOf(id), { 0: 20 }), "the last units to be in shard 0");
  });

  test.concurrent("is found at the third try, though the counter document is out of date; a refusal by the rules ends the second", async ({
    onTestFinished,
  }) => {
    // A project whose units no function moves, and a client whose requests are counted.
    const [host, project] = [process.env.FIRESTORE_EMULATOR_HOST ?? "", "demo-tally-stock"];
    const rules = OPEN_RULES.replace("return units <= 10;", "return units <= 1;");
    await loadRules(project, rules);
    const meter = await startMeter(host);
    const [server, user] = [adminAt(host, project), client(meter.address, project)];
    onTestFinished(async () => {
      await Promise.all([user.close(), server.close()]);
      meter.close();
    });
    const create = async (id: string, units: Readonly<Record<string, number>>, stock = units) => {
      const at = `counters/${id}`;
      await server.firestore.doc(at).set({ shardCount: 8, bounded: true, stock });
      for (const [shard, count] of Object.entries(units))
        await server.firestore.doc(`${at}/shards/${shard}`).set({ shard, count, writes: 0 });
      return counter(user.db, id);
    };
    const once = await signIn(user);
    const last = await create("tickets:hidden", { 5: 1 }, { 1: 9, 4: 9, 6: 9 });
    expect(await takeFromCounter(last, 1, { once })).toBe(1);
    expect(meter.calls.get("Commit")).toBe(3);
    expect(meter.usage).toMatchObject({ writes: 2 });
    // What the doc comment says of the reads, without those of the rules.
    expect(meter.usage.reads).toBeLessThanOrEqual(1 + 5 + 4 + 8);
    await undoIncrement(last, once);
    expect((await server.firestore.doc("counters/tickets:hidden/shards/5").get()).get("count")).toBe(1);

    const limited = await create("tickets:policy", { 0: 9, 1: 9 });
    const before = meter.calls.get("Commit") ?? 0;
    await expect(takeFromCounter(limited, 2, { once })).rejects.toMatchObject({ code: "counter/permission-denied" });
    expect(meter.calls.get("Commit")).toBe(before + 2);
  });

  test.concurrent("in shard 0 alone is idle, and a take shows in a watch at once", async () => {
    const id = "tickets:watched";
    await ensureCounter(serverCounter(admin, id), { initial: 50, bounded: true });
    const { client, uid } = buyer(4);
    const totals: number[] = [];
    const ref = counter(client.db, id);
    // The emulator's watches sometimes miss a change.
    await until(async () => (await phaseOf(id)) === "idle", "the publish");
    const stop = onCounter(ref, ({ total }) => totals.push(total));
    await until(async () => totals.at(-1) === 50, "the stock");
    await takeFromCounter(ref, 2, { once: uid });
    await until(async () => totals.at(-1) === 48, "the take");
    await until(async () => (await readPublished(id))?.total === 48, "the total");
    stop();
    expect([...new Set(totals.slice(totals.indexOf(50)))]).toEqual([50, 48]);
    expect(await phaseOf(id)).toBe("idle");
    expect(await countsOf(id)).toEqual({ base: 0, 0: 48 });
  });

  test.concurrent("is not lowered by increments, undos, resets and corrections of a server", async () => {
    const id = "stock:guarded";
    const stock = serverCounter(admin, id);
    await ensureCounter(stock, { initial: 5, bounded: true });
    const refused = { code: "counter/bounded" };
    await expect(incrementCounter(stock, -1)).rejects.toMatchObject(refused);
    await expect(incrementCounter(stock, 0.5)).rejects.toMatchObject(refused);
    // Also if increments that are made at the same time add up to more than 0.
    const together = await Promise.allSettled([incrementCounter(stock, 5), incrementCounter(stock, -3)]);
    expect(together).toMatchObject([{ status: "fulfilled" }, { status: "rejected", reason: refused }]);
    expect(await takeOnServer(stock, 5)).toBe(5);
    await incrementCounter(stock, 3, { once: "delivery" });
    await expect(undoOnServer(stock, "delivery")).rejects.toMatchObject(refused);
    await expect(resetCounter(stock, 0)).rejects.toMatchObject(refused);
    await expect(reconcileCounter(stock, { source: { entries: true } })).rejects.toMatchObject(refused);
    expect((await reconcileCounter(stock, { source: { entries: true }, dryRun: true })).drift).toBe(-5);
    expect(await sumOfIncrements(id)).toBe(8);
    await expect(takeOnServer(stock, 1, { once: "delivery" })).rejects.toMatchObject({ code: "counter/once-conflict" });
    const open = serverCounter(admin, "stock:open");
    await incrementCounter(open, 5);
    await incrementCounter(open, -2);
    await until(async () => (await readPublished("stock:open"))?.total === 3, "the total");
    const notBounded = { code: "counter/not-bounded" };
    await expect(takeOnServer(open, 1)).rejects.toMatchObject(notBounded);
    await expect(ensureCounter(open, { bounded: true })).rejects.toMatchObject(notBounded);
    expect(await sumOfIncrements("stock:open")).toBe(3);
  });
});

test("an undo right after a take gives the units back, and a take right after it takes them again", async () => {
  const id = "tickets:changedMind";
  await ensureCounter(serverCounter(admin, id), { initial: 10, bounded: true });
  const proxy = await delayingProxy(process.env.FIRESTORE_EMULATOR_HOST as string, 50);
  const undecided = client(proxy.address);
  const uid = await signIn(undecided);
  const tickets = counter(undecided.db, id);
  const taken = takeFromCounter(tickets, 4, { once: uid });
  const isTaken = getIncremented(tickets, uid);
  await undoIncrement(tickets, uid);
  expect([await taken, await isTaken, await getIncremented(tickets, uid)]).toEqual([4, true, false]);
  expect(await sumOfIncrements(id)).toBe(10);

  await takeFromCounter(tickets, 3, { once: uid });
  // The SDK's queue needs a new stream, so the undo would be committed after the take.
  await disableNetwork(undecided.db);
  await enableNetwork(undecided.db);
  const undone = undoIncrement(tickets, uid);
  expect(await takeFromCounter(tickets, 2, { once: uid })).toBe(2);
  await undone;
  expect(await sumOfIncrements(id)).toBe(8);
  await undecided.close();
  await proxy.close();
});

test("invalid takes are refused before any I/O", async () => {
  const { client, uid } = buyer(0);
  const ref = counter(client.db, "tickets:none");
  for (const n of [0, -1, 1.5, Number.NaN, MAX_TAKE + 1, "1" as unknown as number]) {
    await expect(takeFromCounter(ref, n, { once: uid })).rejects.toMatchObject({ code: "counter/invalid-amount" });
  }
  await expect(takeFromCounter(ref, 1, { once: "a/b" })).rejects.toMatchObject({ code: "counter/invalid-once" });
  await expect(takeOnServer(serverCounter(admin, "tickets:none"), 0)).rejects.toMatchObject({
    code: "counter/invalid-amount",
  });
});

test("I12: sales at once by a server sell the last units once", async () => {
  const id = "stock:last";
  const stock = serverCounter(admin, id);
  await ensureCounter(stock, { initial: 30, bounded: true });
  const sales = await Promise.allSettled(
    Array.from({ length: 12 }, (_, n) => takeOnServer(stock, 5, { once: `${n}` })),
  );
  expect(sales.filter(({ status }) => status === "fulfilled")).toHaveLength(6);
  expect(await sumOfIncrements(id)).toBe(0);
});
