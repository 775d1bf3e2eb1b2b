/**
 * A connection cut between a commit and its acknowledgement: the SDK cannot know that the write was committed and sends
 * it again. A bare `increment` then counts twice; ours must not.
 */
import { initializeTestEnvironment } from "@firebase/rules-unit-testing";
import { doc, increment, setDoc } from "firebase/firestore";
import { Firestore } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cuttingProxy } from "./proxy.ts";
import { type Client, client } from "./support/app.ts";
import { sumOfShards, until } from "./support/suite.ts";

const firestoreHost = process.env.FIRESTORE_EMULATOR_HOST as string;
const CLIENTS = 10;
const CUTS_EACH = 10;

/**
 * Lets several clients write, and cuts each one's connection after each commit, before the client hears of it.
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
        // Opens the stream again, whose handshake must not be withheld.
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

test(`${CLIENTS * CUTS_EACH} cuts between commit and acknowledgement: acknowledged = counted, 0 double`, async () => {
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
}, 60_000);

/** The same with Firestore's own increment, in a project whose rules allow everything. */
const BARE = "demo-tally-bare";
const bareAdmin = new Firestore({ projectId: BARE });

beforeAll(async () => {
  const [host = "", port] = firestoreHost.split(":");
  const rules = "service cloud.firestore { match /databases/{d}/documents/{all=**} { allow read, write; } }";
  await initializeTestEnvironment({ projectId: BARE, firestore: { host, port: Number(port), rules } });
});
afterAll(() => bareAdmin.terminate());

test("a bare increment counts twice in the same harness: it bites", async () => {
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
