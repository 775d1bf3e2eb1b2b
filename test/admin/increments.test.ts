/** Increments by servers: exact under retries of unknown outcome, folds and resets. Connections that are cut: test/faults. */
import * as web from "firestore-tally";
import {
  bufferedCounter,
  counter,
  getExactTotal,
  getIncremented,
  type IncrementOptions,
  incrementCounter,
  incrementCounterIn,
  onIncremented,
  resetCounter,
  undoIncrement,
} from "firestore-tally/admin";
import { describe, expect, test, vi } from "vitest";
import { fold } from "../../functions/src/counter/fold.ts";
import { admin, adminAt, client } from "../../testkit/clients.ts";
import { readShards, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { cuttingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";

const firestoreHost = process.env.FIRESTORE_EMULATOR_HOST as string;

async function receiptsOf(id: string): Promise<FirebaseFirestore.DocumentData[]> {
  return (await admin.collection(`counters/${id}/tallyReceipts`).get()).docs.map((receipt) => receipt.data());
}

describe("increments by a server", () => {
  test("each sequential one leaves a receipt that expires a day later", async () => {
    const ref = counter(admin, "server:steady");
    for (let n = 0; n < 3; n++) await incrementCounter(ref);
    expect(await sumOfIncrements("server:steady")).toBe(3);
    const receipts = await receiptsOf("server:steady");
    expect(receipts).toHaveLength(3);
    for (const receipt of receipts) {
      expect(Object.keys(receipt)).toEqual(["expireAt"]);
      const hours = (receipt.expireAt.toMillis() - Date.now()) / 3_600_000;
      expect(hours).toBeGreaterThan(23.9);
      expect(hours).toBeLessThanOrEqual(24);
    }
  });

  test("those of many processes spread over all shards", async () => {
    const id = "server:many";
    await admin.doc(`counters/${id}`).set({ shardCount: 8 });
    const processes = Array.from({ length: 6 }, () => adminAt(firestoreHost));
    await Promise.all(
      processes.map(async ({ firestore }, nth) => {
        const ref = counter(firestore as unknown as FirebaseFirestore.Firestore, id);
        for (let n = 0; n < 5; n++) await Promise.all([1, nth, -2].map((by) => by && incrementCounter(ref, by)));
      }),
    );
    expect(await sumOfIncrements(id)).toBe(5 * (0 + 1 + 2 + 3 + 4 + 5 - 6));
    expect((await readShards(id)).size).toBeGreaterThan(3);
    await Promise.all(processes.map(({ close }) => close()));
  });

  test("invalid amounts are rejected before any I/O", async () => {
    const ref = counter(admin, "server:hostile");
    await expect(incrementCounter(ref, 1, { once: "a/b" })).rejects.toMatchObject({ code: "counter/invalid-once" });
    await expect(incrementCounter(ref, Number.NaN)).rejects.toMatchObject({ code: "counter/invalid-amount" });
    expect(await admin.doc(ref.path).listCollections()).toEqual([]);
  });

  test("fractions go to the base shard, so that clients' increments are not blocked", async () => {
    const id = "server:fractions";
    const ref = counter(admin, id);
    await incrementCounter(ref, 31.99);
    await incrementCounter(ref, 0.7, { once: "a" });
    const batch = admin.batch();
    incrementCounterIn(batch, ref, 0.5);
    await batch.commit();
    await undoIncrement(ref, "a");
    expect([...(await readShards(id)).keys()]).toEqual(["base"]);
    await resetCounter(ref, 0.5);
    const browser = client();
    await web.incrementCounter(web.counter(browser.db, id));
    expect(await getExactTotal(ref)).toBe(1.5);
    await browser.close();
  });
});

describe("a commit that arrives after its call has returned", () => {
  test.each([
    ["without `once`", {}],
    ["with `once`", { once: "order-1" }],
  ])("counts once, %s", async (_, options: IncrementOptions) => {
    const id = `server:late${options.once ?? ""}`;
    const ref = counter(admin, id);
    const batches = vi.spyOn(admin, "batch");
    await incrementCounter(ref, 7, options);
    const [first] = batches.mock.results.map(({ value }) => value as FirebaseFirestore.WriteBatch);
    batches.mockRestore();
    await incrementCounter(ref, 2);
    for (let n = 0; n < 3; n++) await expect(first?.commit()).rejects.toMatchObject({ code: 6 });
    expect(await sumOfIncrements(id)).toBe(9);
  });
});

test("I5: a call that was committed, folded and sent again counts once, and so does the next call", async () => {
  const id = "server:frozen";
  const proxy = await cuttingProxy(firestoreHost);
  const { firestore, close } = adminAt(proxy.address);
  const ref = counter(firestore as unknown as FirebaseFirestore.Firestore, id);
  await incrementCounter(ref, 10);
  proxy.withhold();
  const frozen = incrementCounter(ref, 5);
  await until(async () => (await sumOfIncrements(id)) === 15, "the commit");
  const later = incrementCounter(ref, 2);
  // The emulator's clock has a finer resolution.
  do await fold(admin.collection(`counters/${id}/shards`), 0, Date.now() + 1);
  while ([...(await readShards(id)).keys()].some((shard) => shard !== "base"));
  proxy.cut();
  await Promise.all([frozen, later]);
  expect(await sumOfIncrements(id)).toBe(17);
  await close();
  await proxy.close();
});

describe("I8: an increment with `once` of a server", () => {
  test("counts once for 20 concurrent calls", async () => {
    const ref = counter(admin, "orders:shoes");
    await Promise.all(Array.from({ length: 20 }, () => incrementCounter(ref, 3, { once: "order-1" })));
    await incrementCounter(ref, 2, { once: "order-2" });
    expect(await getExactTotal(ref)).toBe(5);
    await expect(incrementCounter(ref, 4, { once: "order-1" })).rejects.toMatchObject({
      code: "counter/once-conflict",
    });
    expect(await getIncremented(ref, "order-1")).toBe(true);
    await Promise.all(Array.from({ length: 5 }, () => undoIncrement(ref, "order-1")));
    await undoIncrement(ref, "never");
    expect(await getIncremented(ref, "order-1")).toBe(false);
    expect(await getExactTotal(ref)).toBe(2);
  });

  test("can be watched", async () => {
    const ref = counter(admin, "orders:watched");
    const seen: boolean[] = [];
    const stop = onIncremented(ref, "k", (counted) => seen.push(counted));
    await until(() => seen.length === 1, "the first answer");
    await incrementCounter(ref, 1, { once: "k" });
    await until(() => seen.length === 2, "the increment");
    expect(seen).toEqual([false, true]);
    stop();
  });
});

test("an increment in the caller's own transaction or batch is committed with it or not at all", async () => {
  const ref = counter(admin, "orders:open");
  const place = (id: string) =>
    admin.runTransaction(async (transaction) => {
      transaction.create(admin.doc(`orders/${id}`), { placed: true });
      incrementCounterIn(transaction, ref, 2);
    });
  await place("1");
  await expect(place("1")).rejects.toThrow();
  expect(await getExactTotal(ref)).toBe(2);
  const batch = admin.batch();
  batch.set(admin.doc("orders/2"), { placed: true });
  incrementCounterIn(batch, ref, -2, { once: "refund" });
  await batch.commit();
  expect(await getExactTotal(ref)).toBe(0);
  expect(await getIncremented(ref, "refund")).toBe(true);
});

test("a buffered counter commits once per interval, and close commits the rest", async () => {
  const ref = counter(admin, "server:buffered");
  const buffer = bufferedCounter(ref, { flushInterval: 60_000, maxPending: 1_000 });
  for (let n = 0; n < 505; n++) buffer.increment(2);
  await buffer.close();
  expect(() => buffer.increment()).toThrow(expect.objectContaining({ code: "counter/closed" }));
  const [[, { count, writes }] = ["", {} as FirebaseFirestore.DocumentData]] = await readShards("server:buffered");
  expect(count).toBe(1_010);
  expect(writes).toBeLessThanOrEqual(2);
});
