/** Of the model, what the emulator cannot show: missing indexes, prices, and calls that fail on the way. */
import { expect, test } from "vitest";
import { type Fault, Faults } from "./faults.ts";
import * as adminSdk from "./model/adminSdk.ts";
import { Database } from "./model/database.ts";
import { Connection, type Network } from "./model/network.ts";
import * as webSdk from "./model/webSdk.ts";
import { Process, Scheduler } from "./scheduler.ts";

function world({ index = "ready" as Network["index"], fault = undefined as Fault | undefined } = {}) {
  const scheduler = new Scheduler(1e15);
  const bill = { reads: 0 };
  const ignore = () => {};
  const network: Network = {
    scheduler,
    database: new Database(),
    faults: new Faults(fault ? [fault] : [], 1, 0),
    lag: 0,
    index,
    onCommit: ignore,
    onRead: (_, documents) => {
      bill.reads += documents;
    },
    onTransaction: ignore,
    log: ignore,
  };
  const run = async <T>(call: Promise<T>): Promise<T> => {
    call.catch(ignore);
    // A call that has not begun yet has a moment to.
    scheduler.in(0, ignore);
    await scheduler.runUntil(scheduler.now + 120e6);
    return await call;
  };
  const server = new adminSdk.Firestore(new Connection(network, new Process("server", 1)));
  const client = new webSdk.Firestore(new Connection(network, new Process("client", 1)));
  return { network, bill, run, server, client };
}

const { AggregateField } = adminSdk;
const TOTALS = { total: AggregateField.sum("count"), documents: AggregateField.count() };

test("without its index, an ordered sum is refused and a count is not", async () => {
  for (const index of ["ready", "missing"] as const) {
    const { run, server } = world({ index });
    await run(server.doc("c/a/shards/0").set({ shard: "0", count: 3 }));
    const shards = server.collection("c/a/shards");
    const outcome = await run(shards.orderBy("shard").aggregate(TOTALS).get()).then(
      (snapshot) => snapshot.data(),
      ({ code }) => code,
    );
    expect(outcome).toEqual(index === "ready" ? { total: 3, documents: 1 } : 9);
    expect((await run(shards.count().get())).data()).toEqual({ count: 1 });
  }
});

test("an aggregation costs a read for each thousand entries that it began, however many sums it has", async () => {
  const { run, server, bill } = world();
  for (const [documents, reads] of [
    [0, 1],
    [1_000, 1],
    [1_001, 2],
  ] as const) {
    const batch = server.batch();
    for (let i = 0; i < documents; i++) batch.set(server.doc(`c/a/shards/${i}`), { shard: `${i}`, count: 1 });
    if (documents > 0) await run(batch.commit());
    bill.reads = 0;
    const snapshot = await run(server.collection("c/a/shards").orderBy("shard").aggregate(TOTALS).get());
    expect([snapshot.data(), bill.reads]).toEqual([{ total: documents, documents }, reads]);
  }
});

/** What the rules accept as an increment. */
function anIncrement(nonce: number) {
  const at = webSdk.serverTimestamp();
  const nonces = webSdk.arrayUnion(webSdk.Bytes.fromUint8Array(new Uint8Array(4).fill(nonce)));
  return { shard: "0", count: webSdk.increment(1), writes: webSdk.increment(1), at, marks: { 0: { at, nonces } } };
}

test("a client's transaction fails as a call does: aborted, it was not committed; unavailable, it may have been", async () => {
  const outcomes: Partial<Record<Fault, [code: string, count: unknown]>> = {};
  for (const fault of ["aborted calls", "lost calls", "lost answers", "calls that land late"] as const) {
    const { run, client, network } = world({ fault });
    const shard = webSdk.doc(client, "counters/views:a/shards/0");
    // A call draws what becomes of it: this goes on until it was that.
    for (let i = 0; i < 100 && !network.faults.injected[fault]; i++) {
      const set = async (transaction: webSdk.Transaction) =>
        void transaction.set(shard, anIncrement(i), { merge: true });
      const done = webSdk.runTransaction(client, set, { maxAttempts: 1 });
      const code = await run(done).then(
        () => "ok",
        (error) => error.code,
      );
      outcomes[fault] = [code, Number(network.database.get(shard.path).fields?.count ?? 0) - i];
    }
  }
  expect(outcomes).toEqual({
    "aborted calls": ["aborted", 0],
    "lost calls": ["unavailable", 0],
    "lost answers": ["unavailable", 1],
    "calls that land late": ["unavailable", 1],
  });
});

test("a transaction is not kept while its client is offline", async () => {
  const { run, client, network } = world();
  client.offlineUntil = network.scheduler.now + 1e6;
  const set = async (transaction: webSdk.Transaction) =>
    void transaction.set(webSdk.doc(client, "counters/views:a/shards/0"), anIncrement(0));
  await expect(run(webSdk.runTransaction(client, set, { maxAttempts: 1 }))).rejects.toMatchObject({
    code: "unavailable",
  });
  await run(webSdk.runTransaction(client, set, { maxAttempts: 1 }));
  expect(network.database.get("counters/views:a/shards/0").fields?.count).toBe(1);
});
