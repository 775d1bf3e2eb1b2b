/**
 * A connection cut between a commit and its acknowledgement: the SDK cannot know that the write was committed and sends
 * it again. A bare `increment` then counts twice; an increment of Tally must not.
 */
import { readFileSync } from "node:fs";
import { initializeTestEnvironment } from "@firebase/rules-unit-testing";
import { credentials, Client as GrpcClient, Metadata } from "@grpc/grpc-js";
import { doc, increment, runTransaction, setDoc, writeBatch } from "firebase/firestore";
import { Firestore } from "firebase-admin/firestore";
import {
  bufferedCounter,
  counter,
  getCounter,
  incrementCounter,
  incrementCounterIn,
  prepareIncrement,
} from "firestore-tally";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ABORTED,
  MARK_LIFETIME_SECONDS,
  MARK_WINDOW_MILLIS,
  MARK_WINDOWS,
  planIncrement,
} from "../../core/src/index.ts";
import { adminAt, type Client, client } from "../../testkit/clients.ts";
import { pathOf } from "../../testkit/firestoreMessages.ts";
import { Refused, startProxy } from "../../testkit/grpcProxy.ts";
import { documentBytes } from "../../testkit/production/sizes.ts";
import { loadRules } from "../../testkit/rules.ts";
import { sumOfShards } from "../../testkit/storedCounter.ts";
import { cuttingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";
import { integer, markWindows, nonceOf, numberOf } from "../rules/fuzz/oracle.ts";
import { ADMIN, database as connect, type Database } from "../rules/rest.ts";

const firestoreHost = process.env.FIRESTORE_EMULATOR_HOST as string;
const CLIENTS = 10;
const CUTS_EACH = 10;

/**
 * Lets several clients write, and cuts the connection of each between each commit and its acknowledgement.
 *
 * @param write      one write of a client; resolves when it is acknowledged
 * @param committed  how much of a client's writes the server has committed
 * @returns          how many writes were acknowledged
 */
async function cutAfterEachCommit(
  project: string | undefined,
  write: (client: Client, n: number) => Promise<void>,
  committed: (n: number) => Promise<number>,
): Promise<number> {
  let acknowledged = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, n) => {
      const proxy = await cuttingProxy(firestoreHost);
      const victim = client(proxy.address, project);
      for (let cut = 0; cut < CUTS_EACH; cut++) {
        // Opens the stream again, because its handshake must not be withheld.
        await write(victim, n);
        acknowledged++;
        const before = await committed(n);
        proxy.withhold();
        const written = write(victim, n);
        await until(async () => (await committed(n)) > before, "the commit");
        proxy.cut();
        await written;
        acknowledged++;
      }
      await victim.close();
      await proxy.close();
    }),
  );
  return acknowledged;
}

test(`${CLIENTS * CUTS_EACH} cuts between commit and acknowledgement: all acknowledged writes count, none twice`, async () => {
  const id = (n: number) => `replay:client${n}`;
  const acknowledged = await cutAfterEachCommit(
    undefined,
    ({ db }, n) => incrementCounter(counter(db, id(n))),
    (n) => sumOfShards(id(n)),
  );
  const counted = await total(CLIENTS, (n) => sumOfShards(id(n)));
  console.log(`Tally: ${CLIENTS * CUTS_EACH} cuts, ${acknowledged} acknowledged, ${counted} counted`);
  expect(acknowledged).toBe(2 * CLIENTS * CUTS_EACH);
  expect(counted).toBe(acknowledged);
}, 180_000);

test("several increments in flight when the connection is cut: none counts twice", async () => {
  const proxy = await cuttingProxy(firestoreHost);
  const victim = client(proxy.address);
  const ref = counter(victim.db, "replay:pipelined");
  await incrementCounter(ref);
  let acknowledged = 1;
  for (let cut = 0; cut < 5; cut++) {
    await incrementCounter(ref);
    acknowledged++;
    proxy.withhold();
    const written = Promise.all(Array.from({ length: 8 }, () => incrementCounter(ref).then(() => acknowledged++)));
    await until(async () => (await sumOfShards("replay:pipelined")) > acknowledged, "a first commit");
    proxy.cut();
    await written;
  }
  expect(acknowledged).toBe(46);
  expect(await sumOfShards("replay:pipelined")).toBe(46);
  await victim.close();
  await proxy.close();
});

test("a buffered sum that is sent again is not written once more, though the client may not read the shards", async () => {
  const project = `demo-tally-private-${process.pid}`;
  const rules = readFileSync("firestore.rules", "utf8");
  await loadRules(project, rules.replace(/(function mayRead\(counter\) \{\s+return) [^;]+;/, "$1 false;"));
  const { firestore, close } = adminAt(firestoreHost, project);
  const counted = async () => (await firestore.doc("counters/replay:private/shards/0").get()).get("count");
  const proxy = await cuttingProxy(firestoreHost);
  const victim = client(proxy.address, project);
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const buffer = bufferedCounter(counter(victim.db, "replay:private"), { flushInterval: 60_000, onError });
  buffer.increment();
  await buffer.flush();
  buffer.increment();
  proxy.withhold();
  const flushed = buffer.flush();
  await until(async () => (await counted()) === 2, "the commit");
  proxy.cut();
  await expect(flushed).rejects.toMatchObject({ code: "counter/unknown-outcome" });
  await buffer.close();
  expect(errors).toHaveLength(1);
  expect(await counted()).toBe(2);
  await Promise.all([victim.close(), close()]);
  await proxy.close();
});

test("a transaction that runs again because its answer was lost: its prepared increment counts once", async () => {
  const proxy = await cuttingProxy(firestoreHost);
  const victim = client(proxy.address);
  const ref = counter(victim.db, "replay:transaction");
  // Opens the connection, because its handshake must not be withheld.
  await getCounter(ref);
  const sale = prepareIncrement(ref);
  let runs = 0;
  proxy.withhold();
  const sold = runTransaction(victim.db, async (transaction) => {
    runs++;
    incrementCounterIn(transaction, sale);
  });
  await until(async () => (await sumOfShards("replay:transaction")) === 1, "the commit");
  proxy.cut();
  // The rules refuse the second run as a replay.
  await expect(sold).rejects.toMatchObject({ code: "permission-denied" });
  expect(runs).toBe(2);
  expect(await sumOfShards("replay:transaction")).toBe(1);
  await victim.close();
  await proxy.close();
});

describe("a shard with several hundred simultaneous writers", () => {
  const PROJECT = `demo-tally-crowd-${process.pid}`;
  const VICTIMS = 12;
  const CROWD = 300;
  const shardOf = (id: string) => `counters/${id}/shards/0`;
  let database: Database;
  beforeAll(async () => {
    database = await connect(PROJECT, readFileSync("firestore.rules", "utf8"));
  });

  const sizeOf = async (path: string) => {
    const { firestore, close } = adminAt(firestoreHost, PROJECT);
    const document = await firestore.doc(path).get();
    await close();
    return documentBytes(path, document.data() ?? {});
  };
  const counted = async (path: string) => numberOf((await database.read([path]))[path]?.count) ?? 0;

  /** One increment, planned as a client plans it, over REST. @returns whether it was accepted */
  async function write(id: string, at: number): Promise<boolean> {
    const plan = planIncrement(`counters/${id}`, "0", 1, at, Math.random);
    const status = await database.commit(null, [
      {
        path: plan.path,
        set: { shard: { stringValue: plan.shard } },
        mask: ["shard"],
        transforms: [
          { fieldPath: "count", increment: integer(plan.by) },
          { fieldPath: "writes", increment: integer(1) },
          { fieldPath: "at", setToServerValue: "REQUEST_TIME" },
          { fieldPath: `marks.\`${plan.window}\`.at`, setToServerValue: "REQUEST_TIME" },
          {
            fieldPath: `marks.\`${plan.window}\`.nonces`,
            appendMissingElements: { values: [{ bytesValue: Buffer.from(plan.nonce).toString("base64") }] },
          },
        ],
      },
    ]);
    return status === 200;
  }

  test(`I5: ${CROWD} other writes before the replays of ${VICTIMS} cut connections: none counts twice`, async () => {
    const path = shardOf("crowd");
    const victims = await Promise.all(
      Array.from({ length: VICTIMS }, async () => {
        const proxy = await cuttingProxy(firestoreHost);
        return { proxy, client: client(proxy.address, PROJECT) };
      }),
    );
    const increment = async ({ client: { db } }: (typeof victims)[0], id: string) => {
      const batch = writeBatch(db);
      incrementCounterIn(batch, counter(db, id));
      await batch.commit();
    };
    const underWay: Promise<void>[] = [];
    for (const [n, victim] of victims.entries()) {
      await increment(victim, `opened-${n}`);
      victim.proxy.withhold();
      underWay.push(increment(victim, "crowd"));
      await until(async () => (await counted(path)) === n + 1, "the commit");
    }
    let accepted = 0;
    for (let n = 0; n < CROWD; n += 20) {
      const some = await Promise.all(Array.from({ length: 20 }, () => write("crowd", Date.now())));
      accepted += some.filter((isAccepted) => isAccepted).length;
    }
    for (const { proxy } of victims) proxy.cut();
    const outcomes = await Promise.allSettled(underWay);
    // In the caller's own batch, the refused replay is an error.
    const refused = outcomes.filter((one) => one.status === "rejected" && one.reason.code === "permission-denied");
    expect(refused).toHaveLength(VICTIMS);
    expect(accepted).toBeGreaterThan(CROWD / 2);
    expect(await counted(path)).toBe(VICTIMS + accepted);
    await Promise.all(victims.flatMap(({ client, proxy }) => [client.close(), proxy.close()]));
  });

  test("has at most 4 kB at one write a second, without a removal of marks for ten minutes", {
    tags: ["deep"],
  }, async () => {
    const path = shardOf("slow");
    const start = Date.now();
    let accepted = 0;
    for (let second = 0; second < 600; second++) accepted += Number(await write("slow", start + second * 1_000));
    expect(accepted).toBe(600);
    const size = await sizeOf(path);
    console.log(`a shard with the marks of ten minutes at 1 write/s: ${size} bytes`);
    expect(size).toBeLessThanOrEqual(4_000);
  });

  test("has at most 64 kB at 100 writes a second, after a removal of old marks", async () => {
    const path = shardOf("fast");
    // The state after eight minutes: each window has the marks of 15 seconds, and is 15 seconds older than the next one.
    const now = Date.now();
    const windows = Array.from({ length: MARK_WINDOWS }, (_, n) => {
      const at = new Date(now - (MARK_WINDOWS - 1 - n) * MARK_WINDOW_MILLIS).toISOString();
      const nonces = Array.from({ length: (100 * MARK_WINDOW_MILLIS) / 1_000 }, (_, i) => nonceOf(n * 1e6 + i));
      return [n.toString(16), [at, ...nonces]] as [string, [string, ...ReturnType<typeof nonceOf>[]]];
    });
    const filled = { shard: { stringValue: "0" }, count: integer(1e6), writes: integer(1e6) };
    await database.commit(ADMIN, [{ path, set: { ...filled, marks: markWindows(Object.fromEntries(windows)) } }]);
    expect(await write("fast", 0)).toBe(true);

    const old = windows.filter(([name, [at]]) => name !== "0" && now - Date.parse(at) > MARK_LIFETIME_SECONDS * 1_000);
    const young = windows.filter((window) => !old.includes(window) && window[0] !== "0");
    const remove = (some: typeof windows) => ({ path, set: {}, mask: some.map(([name]) => `marks.\`${name}\``) });
    expect(await database.commit(null, [remove([...old, ...young.slice(-1)])])).toBe(403);
    expect(await database.commit(null, [remove(old)])).toBe(200);
    const size = await sizeOf(path);
    console.log(`a shard with the marks of ${young.length + 1} windows at 100 writes/s: ${size} bytes`);
    expect(size).toBeLessThanOrEqual(64_000);
  });
});

/** The same cuts with Firestore's own increment, in a project whose rules allow everything. */
const BARE = "demo-tally-bare";
const bareAdmin = new Firestore({ projectId: BARE });

beforeAll(async () => {
  const [host = "", port] = firestoreHost.split(":");
  const rules = "service cloud.firestore { match /databases/{d}/documents/{all=**} { allow read, write; } }";
  await initializeTestEnvironment({ projectId: BARE, firestore: { host, port: Number(port), rules } });
});
afterAll(() => bareAdmin.terminate());

test("a bare increment counts twice under the same cuts, so these tests can fail", async () => {
  const counted = async (n: number) => (await bareAdmin.doc(`bare/${n}`).get()).get("count") ?? 0;
  const acknowledged = await cutAfterEachCommit(
    BARE,
    ({ db }, n) => setDoc(doc(db, `bare/${n}`), { count: increment(1) }, { merge: true }),
    counted,
  );
  const sum = await total(CLIENTS, counted);
  console.log(`bare increment: ${CLIENTS * CUTS_EACH} cuts, ${acknowledged} acknowledged, ${sum} counted`);
  expect(sum).toBeGreaterThan(acknowledged + (CLIENTS * CUTS_EACH) / 2);
}, 180_000);

async function total(clients: number, counted: (n: number) => Promise<number>): Promise<number> {
  const sums = await Promise.all(Array.from({ length: clients }, (_, n) => counted(n)));
  return sums.reduce((all, one) => all + one, 0);
}

test("a write that is sent twice, committed and then refused as contended, counts once", async () => {
  const id = "replay:resent";
  const direct = new GrpcClient(firestoreHost, credentials.createInsecure());
  const raw = (bytes: Buffer) => bytes;
  let copies = 0;
  const proxy = await startProxy(firestoreHost, [
    (method) =>
      method === "Commit"
        ? {
            async request(message) {
              if (copies++ > 0) return;
              await new Promise<void>((resolve, reject) =>
                direct.makeUnaryRequest(pathOf(method), raw, raw, message.raw, new Metadata(), (error) =>
                  error ? reject(error) : resolve(),
                ),
              );
              throw new Refused(ABORTED, "Too much contention on these documents. Please try again.");
            },
          }
        : undefined,
  ]);
  const victim = client(proxy.address);
  await incrementCounter(counter(victim.db, id));
  expect(copies).toBe(1);
  expect(await sumOfShards(id)).toBe(1);
  await incrementCounter(counter(victim.db, id));
  expect(await sumOfShards(id)).toBe(2);
  await victim.close();
  proxy.close();
  direct.close();
});
