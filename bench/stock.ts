/**
 * Sales per second under the limits that production sets on one document: bounded counters beside the recipe of one document
 * that each sale reads and lowers in a transaction. A crowd of buyers, each with a connection of its own, wants one unit each.
 *
 *     npm run bench:stock
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Firestore as AdminFirestore } from "@google-cloud/firestore";
import { deleteApp, initializeApp } from "firebase/app";
import {
  connectFirestoreEmulator,
  doc,
  type Firestore,
  getFirestore,
  runTransaction,
  setLogLevel,
} from "firebase/firestore";
import { counter, takeFromCounter } from "firestore-tally";
import { ensureCounter, counter as serverCounter } from "firestore-tally/admin";
import { PROJECT } from "../testkit/emulators/firebase.ts";
import { WRITE_LIMITS } from "../testkit/production/contention.ts";
import { loadRules } from "../testkit/rules.ts";
import { percentile } from "../testkit/statistics.ts";
import { table } from "./markdown.ts";
import { withMeteredEmulators } from "./meteredEmulators.ts";

const BUYERS = 300;
const SHARDS = 20;
/** All buyers come within this time. */
const ARRIVAL_MS = 15_000;
/** Buyers without an answer by then have given up. */
const PATIENCE_MS = 60_000;
const STOCK = "tickets:bench";

interface Approach {
  readonly name: string;
  readonly project: string;
  buy(db: Firestore, uid: string): Promise<unknown>;
}

const tally: Approach = {
  name: `a bounded counter, ${SHARDS} shards`,
  project: PROJECT,
  buy: (db, uid) => takeFromCounter(counter(db, STOCK), 1, { once: uid }),
};

const recipe: Approach = {
  name: "one document, in a transaction",
  project: "demo-recipe",
  buy: (db, uid) =>
    runTransaction(db, async (transaction) => {
      const stock = await transaction.get(doc(db, "stock/tickets"));
      if (!(stock.get("left") > 0)) throw new Error("sold out");
      transaction.update(stock.ref, { left: stock.get("left") - 1 });
      transaction.set(doc(db, `stock/tickets/orders/${uid}`), { units: 1 });
    }),
};
const OPEN = "service cloud.firestore { match /databases/{d}/documents/{all=**} { allow read, write; } }";

setLogLevel("silent");
const rows: string[][] = [];
await withMeteredEmulators(
  { limits: WRITE_LIMITS, latencies: { clients: 20, functions: 2 } },
  async ({ writers, firestore }) => {
    await loadRules(recipe.project, OPEN);
    process.env.FIRESTORE_EMULATOR_HOST = firestore;
    const [own, others] = [PROJECT, recipe.project].map((projectId) => new AdminFirestore({ projectId }));
    await ensureCounter(serverCounter(own as never, STOCK), { initial: BUYERS, bounded: true, shards: SHARDS });
    await others?.doc("stock/tickets").set({ left: BUYERS });
    // The functions start.
    await sleep(10_000);
    for (const approach of [recipe, tally]) rows.push(await sell(approach, writers.addresses));
  },
);
console.log(table(["approach", `sold of ${BUYERS}`, "in", "sold per second", "a sale, p50", "failed"], 1, rows));

async function sell({ name, project, buy }: Approach, addresses: readonly string[]): Promise<string[]> {
  const start = performance.now();
  const took: number[] = [];
  let [lastSale, failed] = [0, 0];
  const buyOnce = async (n: number) => {
    await sleep((n * ARRIVAL_MS) / BUYERS);
    const uid = `buyer${n}`;
    const app = initializeApp({ projectId: project, apiKey: "any" }, `${project}-${n}`);
    const db = getFirestore(app);
    const [host = "", port] = (addresses[n % addresses.length] as string).split(":");
    connectFirestoreEmulator(db, host, Number(port), { mockUserToken: { sub: uid } });
    const from = performance.now();
    const isDone = await Promise.race([
      buy(db, uid).then(
        () => true,
        () => false,
      ),
      sleep(PATIENCE_MS, false),
    ]);
    if (isDone) {
      lastSale = performance.now() - start;
      took.push(performance.now() - from);
    } else failed++;
    await deleteApp(app);
  };
  await Promise.all(Array.from({ length: BUYERS }, (_, n) => buyOnce(n)));
  const seconds = lastSale / 1_000;
  return [
    name,
    `${took.length}`,
    `${seconds.toFixed(1)} s`,
    (took.length / seconds).toFixed(1),
    `${(percentile(took, 0.5) / 1_000).toFixed(2)} s`,
    `${failed}`,
  ];
}
process.exit(0);
