/** Increments by servers: exact under retries of unknown outcome, cut connections, folds and resets. */
import * as web from "firestore-tally";
import {
  bufferedCounter,
  counter,
  getCounter,
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

/** A server with its own connection to the database, which can be cut. */
async function startServer() {
  const proxy = await cuttingProxy(firestoreHost);
  const { firestore, close } = adminAt(proxy.address);
  return {
    proxy,
    db: firestore as unknown as FirebaseFirestore.Firestore,
    async close() {
      await close();
      await proxy.close();
    },
  };
}

/** Lets a call commit and cuts the connection before its answer. Resolves after the commit with the pending call. */
async function cutAfterCommit(
  { proxy }: Awaited<ReturnType<typeof startServer>>,
  call: () => Promise<void>,
  committed: () => Promise<boolean>,
): Promise<Promise<void>> {
  proxy.withhold();
  const calling = call();
  await until(committed, "the commit");
  proxy.cut();
  return calling;
}

describe("increments by a server", () => {
  test("1,000 at once, up and down, share one commit of two writes", async () => {
    const ref = counter(admin, "server:burst");
    const amounts = Array.from({ length: 1_000 }, (_, n) => (n % 3 === 0 ? -2 : 1.5));
    await Promise.all(amounts.map((by) => incrementCounter(ref, by)));
    const expected = amounts.reduce((sum, by) => sum + by, 0);
    expect(await getExactTotal(ref)).toBe(expected);
    expect([...(await readShards("server:burst")).values()]).toMatchObject([{ count: expected, writes: 1 }]);
    expect(await receiptsOf("server:burst")).toHaveLength(1);
    await until(async () => (await getCounter(ref)).total === expected, "the total");
  });

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

  test("those whose connections are cut after the commit count once", async () => {
    const id = "server:cut";
    // Published, or a decrement would first read whether the counter has become stock.
    await incrementCounter(counter(admin, id));
    await until(async () => (await getCounter(counter(admin, id))).total === 1, "the total");
    const process = await startServer();
    const ref = counter(process.db, id);
    for (let cut = 0; cut < 2; cut++) {
      for (const by of [3, -1]) {
        await incrementCounter(ref, by);
        const before = await sumOfIncrements(id);
        await await cutAfterCommit(
          process,
          () => incrementCounter(ref, by),
          async () => (await sumOfIncrements(id)) === before + by,
        );
      }
    }
    expect(await sumOfIncrements(id)).toBe(9);
    await process.close();
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

describe("I5: folding a server's increments leaves the total as it is", () => {
  /** Folds all shards into `base` at once. */
  async function foldEverything(id: string): Promise<void> {
    const shards = admin.collection(`counters/${id}/shards`);
    // The emulator's clock has a finer resolution.
    do await fold(shards, 0, Date.now() + 1);
    while ([...(await readShards(id)).keys()].some((shard) => shard !== "base"));
  }

  test("a call that was committed, folded and sent again counts once, and so does the next call", async () => {
    const id = "server:frozen";
    const process = await startServer();
    const ref = counter(process.db, id);
    await incrementCounter(ref, 10);
    process.proxy.withhold();
    const frozen = incrementCounter(ref, 5);
    await until(async () => (await sumOfIncrements(id)) === 15, "the commit");
    const later = incrementCounter(ref, 2);
    await foldEverything(id);
    process.proxy.cut();
    await Promise.all([frozen, later]);
    expect(await sumOfIncrements(id)).toBe(17);
    await process.close();
  });
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

  test("counts once when the connection is cut after the commit", async () => {
    const process = await startServer();
    const ref = counter(process.db, "orders:cut");
    await incrementCounter(ref, 1, { once: "first" });
    await undoIncrement(ref, "first");
    for (let n = 0; n < 2; n++) {
      await getExactTotal(ref);
      await await cutAfterCommit(
        process,
        () => incrementCounter(ref, 2, { once: `k${n}` }),
        async () => (await sumOfIncrements("orders:cut")) === 2,
      );
      expect(await sumOfIncrements("orders:cut")).toBe(2);
      await undoIncrement(ref, `k${n}`);
      expect(await sumOfIncrements("orders:cut")).toBe(0);
    }
    await process.close();
  });

  test("does not block clients with a fraction", async () => {
    const ref = counter(admin, "server:onceFractions");
    await incrementCounter(ref, 31.99, { once: "a" });
    const batch = admin.batch();
    incrementCounterIn(batch, ref, 0.5);
    await batch.commit();
    const browser = client();
    await web.incrementCounter(web.counter(browser.db, "server:onceFractions"));
    await undoIncrement(ref, "a");
    expect(await getExactTotal(ref)).toBeCloseTo(1.5, 9);
    await browser.close();
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
