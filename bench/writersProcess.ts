/**
 * The writers' process. Each increment is made when it is due, whether or not earlier ones have been acknowledged, so the load
 * is the intended one, and a stall shows in every increment that it delays.
 */
import "../testkit/parseProtocolOnce.ts";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { doc, getDoc } from "firebase/firestore";
import { type Client, client } from "../testkit/clients.ts";
import type { Millis } from "../testkit/statistics.ts";
import { APPROACHES, WRITES } from "./approaches.ts";
import { ClientPool } from "./clientPool.ts";
import { type Assignment, epochNow, type Order, type Outcome } from "./writers.ts";

const [assignment] = (await once(process, "message")) as [Assignment];
const { approach, ids, addresses, project, dueTimes, clients, maxClients, areCold = false, areWatching } = assignment;
const CONNECTING_AT_ONCE = 50;

let created = 0;
const newClient = () => client(addresses[created++ % addresses.length], project);
const pool = new ClientPool<Client>(newClient, clients, maxClients);
const acknowledged = dueTimes.map(() => Number.POSITIVE_INFINITY);
const lateness: Millis[] = [];
const errors: Record<string, number> = {};
let pending = dueTimes.length;
let start = 0;

async function offer(): Promise<void> {
  for (const [n, due] of dueTimes.entries()) {
    const wait = start + due - epochNow();
    if (wait > 0) await sleep(wait);
    lateness.push(epochNow() - start - due);
    void increment(n);
  }
}

async function increment(n: number): Promise<void> {
  try {
    const write = ({ db }: Client) => WRITES[approach].increment(db, ids[n % ids.length] as string);
    await (areCold ? write(pool.all[n % clients] as Client) : pool.use(write));
    acknowledged[n] = epochNow();
  } catch (error) {
    const { code = "unknown" } = error as { code?: string };
    errors[code] = (errors[code] ?? 0) + 1;
  }
  pending--;
}

/** The clients end with the process: closing a client whose writes are being refused may never finish. */
function stop(): void {
  const samples = dueTimes.map((due, n) => ({ intended: start + due, acknowledged: acknowledged[n] as Millis }));
  const outcome: Outcome = { samples, lateness, errors };
  process.send?.(outcome, () => process.exit(0));
}

process.on("message", (order: Order) => {
  if (order === "stop") stop();
  else if (order === "pending") process.send?.(pending);
  else if (typeof order === "number") {
    start = order;
    if (areWatching && approach !== "floor")
      for (const { db } of pool.all) APPROACHES[approach].watch(db, ids[0] as string, () => {});
    void offer();
  }
});
// Users have the page open before they increment, so their clients are connected.
const unconnected = areCold ? [] : [...pool.all];
while (unconnected.length > 0) {
  await Promise.all(unconnected.splice(0, CONNECTING_AT_ONCE).map(({ db }) => getDoc(doc(db, "counters/none"))));
}
process.send?.("ready");
