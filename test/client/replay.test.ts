/**
 * A connection cut between a commit and its acknowledgement: the SDK cannot know that the write was committed and sends
 * it again. A bare `increment` then counts twice; an increment of Tally must not.
 */
import { credentials, Client as GrpcClient, Metadata } from "@grpc/grpc-js";
import { doc, increment, runTransaction, setDoc } from "firebase/firestore";
import { Firestore } from "firebase-admin/firestore";
import {
  bufferedCounter,
  counter,
  getCounter,
  incrementCounter,
  incrementCounterIn,
  prepareIncrement,
} from "firestore-tally";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ABORTED } from "../../core/src/index.ts";
import { adminAt, type Client, client } from "../../testkit/clients.ts";
import { pathOf } from "../../testkit/firestoreMessages.ts";
import { Refused, startProxy } from "../../testkit/grpcProxy.ts";
import { loadRules, OPEN_RULES, withPolicy } from "../../testkit/rules.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";
import { cuttingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";

const firestoreHost = process.env.FIRESTORE_EMULATOR_HOST as string;
const CLIENTS = 4;
const CUTS_EACH = 2;

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
        // The second one opens the stream again, because its handshake must not be withheld. The first may go in a transaction.
        await write(victim, n);
        await write(victim, n);
        acknowledged += 2;
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
    (n) => sumOfIncrements(id(n)),
  );
  const counted = await total(CLIENTS, (n) => sumOfIncrements(id(n)));
  expect(acknowledged).toBe(3 * CLIENTS * CUTS_EACH);
  expect(counted).toBe(acknowledged);
}, 180_000);

test("several increments in flight when the connection is cut: none counts twice", async () => {
  const proxy = await cuttingProxy(firestoreHost);
  const victim = client(proxy.address);
  const ref = counter(victim.db, "replay:pipelined");
  await incrementCounter(ref);
  let acknowledged = 1;
  for (let cut = 0; cut < 2; cut++) {
    await incrementCounter(ref);
    acknowledged++;
    proxy.withhold();
    const written = Promise.all(Array.from({ length: 8 }, () => incrementCounter(ref).then(() => acknowledged++)));
    await until(async () => (await sumOfIncrements("replay:pipelined")) > acknowledged, "a first commit");
    proxy.cut();
    await written;
  }
  expect(acknowledged).toBe(19);
  expect(await sumOfIncrements("replay:pipelined")).toBe(19);
  await victim.close();
  await proxy.close();
});

test("a buffered sum that is sent again is not written once more, though the client may not read the shards", async () => {
  const project = `demo-tally-private-${process.pid}`;
  await loadRules(project, withPolicy(OPEN_RULES, "function mayReadCounter() { return false; }"));
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
  await until(async () => (await sumOfIncrements("replay:transaction")) === 1, "the commit");
  proxy.cut();
  // The rules refuse the second run as a replay.
  await expect(sold).rejects.toMatchObject({ code: "permission-denied" });
  expect(runs).toBe(2);
  expect(await sumOfIncrements("replay:transaction")).toBe(1);
  await victim.close();
  await proxy.close();
});

/** The same cuts with Firestore's own increment, in a project whose rules allow everything. */
const BARE = `demo-tally-bare-${process.pid}`;
const bareAdmin = new Firestore({ projectId: BARE });

beforeAll(async () => {
  await loadRules(BARE, "service cloud.firestore { match /databases/{d}/documents/{all=**} { allow read, write; } }");
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
  expect(await sumOfIncrements(id)).toBe(1);
  await incrementCounter(counter(victim.db, id));
  expect(await sumOfIncrements(id)).toBe(2);
  await victim.close();
  proxy.close();
  direct.close();
});
