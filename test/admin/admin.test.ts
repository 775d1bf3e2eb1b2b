/** The server entry: exact under retries of unknown outcome, folds and resets, and what only a server may do. */
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue, Timestamp } from "firebase-admin/firestore";
import * as web from "firestore-tally";
import {
  bufferedCounter,
  counter,
  counterRank,
  deleteCounter,
  ensureCounter,
  getCounter,
  getExactCounter,
  hasIncremented,
  incrementCounter,
  incrementCounterIn,
  listCounters,
  onCounter,
  onIncremented,
  resetCounter,
  topCounters,
  undoIncrement,
} from "firestore-tally/admin";
import { describe, expect, test, vi } from "vitest";
import { fold } from "../../functions/src/fold.ts";
import { admin, adminAt, client } from "../../testkit/clients.ts";
import { readPublished, sumOfShards } from "../../testkit/storedCounter.ts";
import { cuttingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";

const firestoreHost = process.env.FIRESTORE_EMULATOR_HOST as string;

async function shardsOf(id: string): Promise<Map<string, FirebaseFirestore.DocumentData>> {
  const { docs } = await admin.collection(`counters/${id}/shards`).get();
  return new Map(docs.map((shard) => [shard.id, shard.data()]));
}

async function receiptsOf(id: string): Promise<FirebaseFirestore.DocumentData[]> {
  return (await admin.collection(`counters/${id}/receipts`).get()).docs.map((receipt) => receipt.data());
}

/** Another process on the same database, whose connections can be cut. */
async function server() {
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

/** Lets a call commit and cuts the connection before its answer. @returns once the server has committed */
async function cutAfterCommit(
  { proxy }: Awaited<ReturnType<typeof server>>,
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
  test("1,000 at once, up and down, share one commit of two writes and add up", async () => {
    const ref = counter(admin, "server:burst");
    const amounts = Array.from({ length: 1_000 }, (_, n) => (n % 3 === 0 ? -2 : 1.5));
    await Promise.all(amounts.map((by) => incrementCounter(ref, by)));
    const expected = amounts.reduce((sum, by) => sum + by, 0);
    expect(await getExactCounter(ref)).toBe(expected);
    expect([...(await shardsOf("server:burst")).values()]).toMatchObject([{ count: expected, writes: 1 }]);
    expect(await receiptsOf("server:burst")).toHaveLength(1);
    await until(async () => (await getCounter(ref)).total === expected, "the total");
  });

  test("made while a commit is under way, they share the next: 300 of them in 100 ms cost few commits", async () => {
    const id = "server:stream";
    const ref = counter(admin, id);
    const made: Promise<void>[] = [];
    for (let n = 0; n < 100; n++) {
      for (let i = 0; i < 3; i++) made.push(incrementCounter(ref));
      await sleep(1);
    }
    await Promise.all(made);
    expect(await sumOfShards(id)).toBe(300);
    const commits = (await receiptsOf(id)).length;
    expect(commits).toBeLessThan(150);
    expect([...(await shardsOf(id)).values()].reduce((sum, { writes }) => sum + writes, 0)).toBe(commits);
  });

  test("one after the other each leave a receipt that expires a day later", async () => {
    const ref = counter(admin, "server:steady");
    for (let n = 0; n < 20; n++) await incrementCounter(ref);
    expect(await sumOfShards("server:steady")).toBe(20);
    const receipts = await receiptsOf("server:steady");
    expect(receipts).toHaveLength(20);
    for (const receipt of receipts) {
      expect(Object.keys(receipt)).toEqual(["expireAt"]);
      const hours = (receipt.expireAt.toMillis() - Date.now()) / 3_600_000;
      expect(hours).toBeGreaterThan(23.9);
      expect(hours).toBeLessThanOrEqual(24);
    }
  });

  test("of many processes at once add up, spread over the shards there are", async () => {
    const id = "server:many";
    await admin.doc(`counters/${id}`).set({ shardCount: 8 });
    const processes = Array.from({ length: 6 }, () => adminAt(firestoreHost));
    await Promise.all(
      processes.map(async ({ firestore }, nth) => {
        const ref = counter(firestore as unknown as FirebaseFirestore.Firestore, id);
        for (let n = 0; n < 15; n++) await Promise.all([1, nth, -2].map((by) => by && incrementCounter(ref, by)));
      }),
    );
    expect(await sumOfShards(id)).toBe(15 * (0 + 1 + 2 + 3 + 4 + 5 - 6));
    expect((await shardsOf(id)).size).toBeGreaterThan(3);
    await Promise.all(processes.map(({ close }) => close()));
  });

  test("50 calls whose connection is cut after the commit count once each", async () => {
    const id = "server:cut";
    const process = await server();
    const ref = counter(process.db, id);
    let calls = 0;
    for (let cut = 0; cut < 25; cut++) {
      for (const by of [3, -1]) {
        await incrementCounter(ref, by);
        const before = await sumOfShards(id);
        await await cutAfterCommit(
          process,
          () => incrementCounter(ref, by),
          async () => (await sumOfShards(id)) === before + by,
        );
        calls++;
      }
    }
    expect(calls).toBe(50);
    expect(await sumOfShards(id)).toBe(100);
    await process.close();
  }, 120_000);

  test("of what is no amount are refused before anything is sent", async () => {
    const ref = counter(admin, "server:hostile");
    await expect(incrementCounter(ref, 1, { key: "a/b" })).rejects.toMatchObject({ code: "counter/invalid-key" });
    for (const by of [0, -0, Number.NaN, Number.POSITIVE_INFINITY, "1", null, {}, [2], 1n]) {
      await expect(incrementCounter(ref, by as number)).rejects.toMatchObject({ code: "counter/invalid-amount" });
    }
    expect(await admin.doc(ref.path).listCollections()).toEqual([]);
    await Promise.all([5, Number.MAX_SAFE_INTEGER, -5].map((by) => incrementCounter(ref, by)));
    expect(await getExactCounter(ref)).toBe(Number.MAX_SAFE_INTEGER);
  });

  test("of fractions, or too large to be whole, keep off the shards of clients, and do not put them off", async () => {
    const id = "server:fractions";
    const ref = counter(admin, id);
    await incrementCounter(ref, 31.99);
    await incrementCounter(ref, 1e300);
    await incrementCounter(ref, -1e300);
    expect([...(await shardsOf(id)).keys()]).toEqual(["base"]);
    await resetCounter(ref, 0.5);
    const browser = client();
    await web.incrementCounter(web.counter(browser.db, id));
    expect(await getExactCounter(ref)).toBe(1.5);
    await browser.close();
  });
});

describe("a commit that arrives after its caller gave up", () => {
  test.each([
    ["without a key", undefined],
    ["with a key", "order-1"],
  ])("counts once, %s", async (_, key) => {
    const id = `server:late${key ?? ""}`;
    const ref = counter(admin, id);
    const batches = vi.spyOn(admin, "batch");
    await incrementCounter(ref, 7, { key });
    const [first] = batches.mock.results.map(({ value }) => value as FirebaseFirestore.WriteBatch);
    batches.mockRestore();
    await incrementCounter(ref, 2);
    for (let n = 0; n < 3; n++) await expect(first?.commit()).rejects.toMatchObject({ code: 6 });
    expect(await sumOfShards(id)).toBe(9);
  });
});

describe("I5: folding what a process has added is invisible", () => {
  /** As the functions would, at once: whatever there is but `base`. */
  async function foldEverything(id: string): Promise<void> {
    const shards = admin.collection(`counters/${id}/shards`);
    // The emulator's clock is finer than ours.
    do await fold(shards, 0, Date.now() + 1);
    while ([...(await shardsOf(id)).keys()].some((shard) => shard !== "base"));
  }

  test("a process that comes back adds to what was folded", async () => {
    const id = "server:back";
    const ref = counter(admin, id);
    await incrementCounter(ref, 10);
    await incrementCounter(ref, -4);
    await foldEverything(id);
    expect([...(await shardsOf(id)).keys()]).toEqual(["base"]);
    await Promise.all([incrementCounter(ref, 1), incrementCounter(ref, -2), incrementCounter(ref, 1)]);
    await incrementCounter(ref, 3);
    expect(await getExactCounter(ref)).toBe(9);
  });

  test("a call that was committed, folded, and is then sent again counts once; what came after it, too", async () => {
    const id = "server:frozen";
    const process = await server();
    const ref = counter(process.db, id);
    await incrementCounter(ref, 10);
    process.proxy.withhold();
    const frozen = incrementCounter(ref, 5);
    await until(async () => (await sumOfShards(id)) === 15, "the commit");
    const later = incrementCounter(ref, 2);
    await foldEverything(id);
    process.proxy.cut();
    await Promise.all([frozen, later]);
    expect(await sumOfShards(id)).toBe(17);
    await process.close();
  });
});

describe("I8: a key of a server", () => {
  test("counts once, however many processes ask for it", async () => {
    const ref = counter(admin, "orders:shoes");
    await Promise.all(Array.from({ length: 20 }, () => incrementCounter(ref, 3, { key: "order-1" })));
    await incrementCounter(ref, 2, { key: "order-2" });
    expect(await getExactCounter(ref)).toBe(5);
    await expect(incrementCounter(ref, 4, { key: "order-1" })).rejects.toMatchObject({ code: "counter/key-conflict" });
    expect(await hasIncremented(ref, "order-1")).toBe(true);
    await Promise.all(Array.from({ length: 5 }, () => undoIncrement(ref, "order-1")));
    await undoIncrement(ref, "never");
    expect(await hasIncremented(ref, "order-1")).toBe(false);
    expect(await getExactCounter(ref)).toBe(2);
  });

  test("is watched", async () => {
    const ref = counter(admin, "orders:watched");
    const seen: boolean[] = [];
    const stop = onIncremented(ref, "k", (counted) => seen.push(counted));
    await until(() => seen.length === 1, "the first answer");
    await incrementCounter(ref, 1, { key: "k" });
    await until(() => seen.length === 2, "the increment");
    expect(seen).toEqual([false, true]);
    stop();
  });

  test("counts once when a connection is cut after the commit", async () => {
    const process = await server();
    const ref = counter(process.db, "orders:cut");
    await incrementCounter(ref, 1, { key: "first" });
    await undoIncrement(ref, "first");
    for (let n = 0; n < 5; n++) {
      await getExactCounter(ref);
      await await cutAfterCommit(
        process,
        () => incrementCounter(ref, 2, { key: `k${n}` }),
        async () => (await sumOfShards("orders:cut")) === 2,
      );
      expect(await sumOfShards("orders:cut")).toBe(2);
      await undoIncrement(ref, `k${n}`);
      expect(await sumOfShards("orders:cut")).toBe(0);
    }
    await process.close();
  }, 60_000);

  test("of fractions does not put clients off", async () => {
    const ref = counter(admin, "server:keyedFractions");
    await incrementCounter(ref, 31.99, { key: "a" });
    const batch = admin.batch();
    incrementCounterIn(batch, ref, 0.5);
    await batch.commit();
    const browser = client();
    await web.incrementCounter(web.counter(browser.db, "server:keyedFractions"));
    await undoIncrement(ref, "a");
    expect(await getExactCounter(ref)).toBeCloseTo(1.5, 9);
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
  expect(await getExactCounter(ref)).toBe(2);
  const batch = admin.batch();
  batch.set(admin.doc("orders/2"), { placed: true });
  incrementCounterIn(batch, ref, -2, { key: "refund" });
  await batch.commit();
  expect(await getExactCounter(ref)).toBe(0);
  expect(await hasIncremented(ref, "refund")).toBe(true);
});

describe("ensureCounter", () => {
  test("starts a counter once, however many processes call it", async () => {
    const ref = counter(admin, "stock:shoes");
    await Promise.all(Array.from({ length: 10 }, () => ensureCounter(ref, { initial: 500 })));
    await incrementCounter(ref, -1);
    await ensureCounter(ref, { initial: 900 });
    expect(await getExactCounter(ref)).toBe(499);
    await until(async () => (await getCounter(ref)).total === 499, "the total");
    await ensureCounter(ref);
    expect(await getExactCounter(ref)).toBe(499);
    await expect(ensureCounter(ref, { initial: Number.NaN })).rejects.toMatchObject({ code: "counter/invalid-amount" });
  });

  test("without an initial total makes a counter that reads 0", async () => {
    const ref = counter(admin, "stock:socks");
    await ensureCounter(ref);
    await until(async () => (await getCounter(ref)).asOf !== null, "the total");
    expect((await getCounter(ref)).total).toBe(0);
  });

  test("with shards wakes a counter that has been quiet: writes to shards that wake nothing are seen again", async () => {
    const id = "stock:quiet";
    const ref = counter(admin, id);
    const shard = admin.doc(`counters/${id}/shards/7`);
    const write = () =>
      shard.set({ shard: "7", count: FieldValue.increment(1), writes: FieldValue.increment(1) }, { merge: true });
    await write();
    await until(async () => (await getCounter(ref)).total === 1, "the first total");
    // As minutes of silence would leave it.
    const now = Date.now();
    const [calmSince, nextPollAt] = [now - 190_000, now + 410_000].map((at) => Timestamp.fromMillis(at));
    await admin.doc(ref.path).update({ phase: "cooling", calmSince, nextPollAt });
    await ensureCounter(ref, { shards: 40 });
    expect((await readPublished(id))?.shardCount).toBe(40);
    await write();
    await until(async () => (await getCounter(ref)).total === 2, "the second total");
    expect((await readPublished(id))?.shardCount).toBe(40);
    expect(await getExactCounter(ref)).toBe(2);
  });
});

describe("I5: resetCounter", () => {
  test("sets the total, up or down, and again", async () => {
    const ref = counter(admin, "reset:plain");
    await incrementCounter(ref, 41);
    for (const to of [0, 100, -3, 0.25]) {
      await resetCounter(ref, to);
      expect(await getExactCounter(ref)).toBe(to);
    }
    await until(async () => (await getCounter(ref)).total === 0.25, "the total");
  });

  test("ten at the same time are worth one", async () => {
    const ref = counter(admin, "reset:race");
    await incrementCounter(ref, 41);
    await Promise.all(Array.from({ length: 10 }, () => resetCounter(ref, 7)));
    expect(await getExactCounter(ref)).toBe(7);
  });

  test("beside 300 increments takes each away whole or leaves it whole", async () => {
    const id = "reset:busy";
    const ref = counter(admin, id);
    const browser = client();
    const page = web.counter(browser.db, id);
    let done = false;
    const writing = Promise.all([
      Promise.all(Array.from({ length: 200 }, () => web.incrementCounter(page))),
      (async () => {
        for (let n = 0; n < 100; n++) await incrementCounter(ref, 3);
      })(),
    ]).finally(() => {
      done = true;
    });
    let resets = 0;
    while (!done) {
      await resetCounter(ref, 0);
      resets++;
    }
    await writing;
    const shards = await shardsOf(id);
    const counted = [...shards].reduce((sum, [shard, { count }]) => (shard === "base" ? sum : sum + count), 0);
    expect(counted).toBe(200 + 300);
    expect(resets).toBeGreaterThan(2);
    const left = await sumOfShards(id);
    expect(left).toBeGreaterThanOrEqual(0);
    await incrementCounter(ref, 10);
    expect(await sumOfShards(id)).toBe(left + 10);
    await resetCounter(ref, 0);
    expect(await sumOfShards(id)).toBe(0);
    await browser.close();
  });
});

test("deleteCounter leaves nothing, says how far it is, and the counter can start anew", async () => {
  const ref = counter(admin, "delete:me");
  await Promise.all(Array.from({ length: 30 }, (_, n) => incrementCounter(ref, 1, { key: `k${n}` })));
  await incrementCounter(ref, 5);
  await until(async () => (await getCounter(ref)).total === 35, "the total");
  const progress: [number, number][] = [];
  await deleteCounter(ref, { onProgress: (deleted, documents) => progress.push([deleted, documents]) });
  const documents = progress[0]?.[1] as number;
  expect(documents).toBeGreaterThanOrEqual(30 + 1 + 1 + 1);
  expect(progress).toEqual(Array.from({ length: documents }, (_, n) => [n + 1, documents]));
  expect(await admin.doc(ref.path).listCollections()).toEqual([]);
  expect((await admin.doc(ref.path).get()).exists).toBe(false);
  await deleteCounter(ref);
  await incrementCounter(ref, 2);
  await incrementCounter(ref, 1, { key: "k0" });
  await until(async () => (await getCounter(ref)).total === 3, "the new total");
});

test("counters of a group are listed in pages; the top and the rank are the same from both SDKs", async () => {
  const totals = { a: 5, b: 30, c: 20, d: 20, e: 1 };
  await Promise.all(
    Object.entries(totals).map(async ([key, total]) => {
      await incrementCounter(counter(admin, `board:${key}`), total);
      await until(async () => (await readPublished(`board:${key}`))?.total === total, "the total");
    }),
  );
  const first = await listCounters(admin, "board", { limit: 3 });
  const second = await listCounters(admin, "board", { limit: 3, after: first.at(-1)?.id as string });
  expect([...first, ...second].map(({ id, total }) => [id, total])).toEqual(
    Object.entries(totals).map(([key, total]) => [`board:${key}`, total]),
  );
  const browser = client();
  const top = await topCounters(admin, "board", { limit: 2 });
  expect(top.map(({ id }) => id).slice(0, 1)).toEqual(["board:b"]);
  expect((await web.topCounters(browser.db, "board", { limit: 2 })).map(({ id }) => id)).toEqual(
    top.map(({ id }) => id),
  );
  expect((await web.topCounters(browser.db, "board", { by: "rate" })).length).toBe(5);
  for (const [key, rank] of Object.entries({ a: 4, b: 1, c: 2, d: 2, e: 5 })) {
    expect(await counterRank(counter(admin, `board:${key}`)), key).toBe(rank);
    expect(await web.counterRank(web.counter(browser.db, `board:${key}`)), key).toBe(rank);
  }
  expect(await counterRank(counter(admin, "board:none"))).toBeUndefined();
  await browser.close();
});

test("a buffered server writes once per interval, and close leaves nothing behind", async () => {
  const ref = counter(admin, "server:buffered");
  const buffer = bufferedCounter(ref, { flushInterval: 60_000, maxPending: 1_000 });
  for (let n = 0; n < 500; n++) buffer.increment(2);
  for (let n = 0; n < 10; n++) buffer.increment();
  await buffer.close();
  expect(() => buffer.increment()).toThrow(expect.objectContaining({ code: "counter/closed" }));
  const [[, { count, writes }] = ["", {} as FirebaseFirestore.DocumentData]] = await shardsOf("server:buffered");
  expect(count).toBe(1_010);
  expect(writes).toBeLessThanOrEqual(2);
});

test("a server's watch tells each published total", async () => {
  const ref = counter(admin, "server:watched");
  const seen: number[] = [];
  const stop = onCounter(ref, ({ total }) => seen.push(total));
  await until(() => seen.length === 1, "the first answer");
  await incrementCounter(ref, 4);
  await until(() => seen.at(-1) === 4, "the total");
  stop();
  expect(seen).toEqual([0, 4]);
});

test("a reference is the same object for the same counter, and another for another", () => {
  expect(counter(admin, "a:b")).toBe(counter(admin, "a:b"));
  expect(counter(admin, "a:b")).not.toBe(counter(admin, "a:c"));
  expect(counter(admin, "a:b")).not.toBe(counter(admin, "a:b", { collection: "others" }));
});
