/** The parts of the model that the emulator cannot show: missing indexes, prices, sizes, and what fails on the way. */
import { expect, test } from "vitest";
import { DEFAULT_CONFIG } from "../../functions/src/deploy/defaultConfig.ts";
import { CloudFunctions } from "./cloudFunctions.ts";
import { type Fault, Faults } from "./faults.ts";
import * as adminSdk from "./model/adminSdk.ts";
import { complete, connect, createNetwork } from "./model/createNetwork.ts";
import type { Network } from "./model/network.ts";
import * as webSdk from "./model/webSdk.ts";

function createModel({ index = "ready" as Network["index"], fault = undefined as Fault | undefined } = {}) {
  const bill = { reads: 0 };
  const network = createNetwork({
    faults: new Faults(fault ? [fault] : [], 1, 0),
    index,
    onRead: (_, documents) => {
      bill.reads += documents;
    },
  });
  const run = <T>(call: Promise<T>) => complete(network, call, 120e6);
  const server = new adminSdk.Firestore(connect(network, "server"));
  const client = new webSdk.Firestore(connect(network, "client"));
  return { network, bill, run, server, client };
}

const { AggregateField } = adminSdk;
const TOTALS = { total: AggregateField.sum("count"), documents: AggregateField.count() };

test("without its index, an ordered sum is rejected and a count is not", async () => {
  for (const index of ["ready", "missing"] as const) {
    const { run, server } = createModel({ index });
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

test("an aggregation costs one read per started 1,000 entries, for any number of sums", async () => {
  const { run, server, bill } = createModel();
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

test("a commit above 10 MiB is refused as a whole, deletions included", async () => {
  const { run, server, network } = createModel();
  const refs = Array.from({ length: 11 }, (_, i) => server.doc(`c/${i}`));
  for (const ref of refs) await run(ref.set({ bytes: new Uint8Array(1e6) }));
  const batch = server.batch();
  for (const ref of refs) batch.delete(ref);
  await expect(run(batch.commit())).rejects.toMatchObject({ code: 3 });
  expect(network.database.below("c")).toHaveLength(11);
  await expect(run(server.doc("c/large").set({ bytes: new Uint8Array(1.1e6) }))).rejects.toMatchObject({ code: 3 });
});

test("an event above 512 kB is lost, a smaller one is not", async () => {
  const lines: string[] = [];
  const network = createNetwork({
    onCommit: (commit) => functions.onCommit(commit),
    log: (_, text) => void lines.push(text()),
  });
  const scenario = { config: DEFAULT_CONFIG, snapshotLag: 0, seed: 1, instances: 1 };
  const functions = new CloudFunctions(network, scenario, () => {});
  const server = new adminSdk.Firestore(connect(network, "server"));
  for (const [shard, bytes] of Object.entries({ small: 500_000, large: 520_000 })) {
    await complete(network, server.doc(`counters/a/shards/${shard}`).set({ bytes: new Uint8Array(bytes) }), 1e6);
  }
  expect(lines).toContain("event shardcreated counters/a/shards/small: begins");
  expect(lines).not.toContain("event shardcreated counters/a/shards/large: begins");
  expect(functions.injected).toEqual({ "events too large": 1 });
});

/** The data of an increment that the rules accept. */
function incrementData(nonce: number) {
  const at = webSdk.serverTimestamp();
  const nonces = webSdk.arrayUnion(webSdk.Bytes.fromUint8Array(new Uint8Array(5).fill(nonce)));
  return { shard: "0", count: webSdk.increment(1), writes: webSdk.increment(1), at, marks: { 0: { at, nonces } } };
}

test("a client's transaction that fails with aborted was not committed; with unavailable it may have been", async () => {
  const outcomes: Partial<Record<Fault, [code: string, count: unknown]>> = {};
  for (const fault of ["aborted calls", "lost calls", "lost answers", "calls that arrive late"] as const) {
    const { run, client, network } = createModel({ fault });
    const shard = webSdk.doc(client, "counters/views:a/shards/0");
    // The outcome of a call is random, so calls are repeated until the fault was injected.
    for (let i = 0; i < 100 && !network.faults.injected[fault]; i++) {
      const set = async (transaction: webSdk.Transaction) =>
        void transaction.set(shard, incrementData(i), { merge: true });
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
    "calls that arrive late": ["unavailable", 1],
  });
});

test("a transaction fails while its client is offline, and is not sent later", async () => {
  const { run, client, network } = createModel();
  client.offlineUntil = network.scheduler.now + 1e6;
  const set = async (transaction: webSdk.Transaction) =>
    void transaction.set(webSdk.doc(client, "counters/views:a/shards/0"), incrementData(0));
  await expect(run(webSdk.runTransaction(client, set, { maxAttempts: 1 }))).rejects.toMatchObject({
    code: "unavailable",
  });
  await run(webSdk.runTransaction(client, set, { maxAttempts: 1 }));
  expect(network.database.get("counters/views:a/shards/0").fields?.count).toBe(1);
});
