/**
 * The process of the writers. Each increment is made at its instant, whether or not those before have been acknowledged.
 * So the load is what was set, and a stall shows in every increment that it delays.
 */
import "../testkit/parseProtocolOnce.ts";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { doc, getDoc } from "firebase/firestore";
import { type Client, client } from "../testkit/clients.ts";
import type { Millis } from "../testkit/statistics.ts";
import { WRITES } from "./contenders.ts";
import { Population } from "./population.ts";
import { type Assignment, epochNow, type Order, type Outcome } from "./writers.ts";

const [assignment] = (await once(process, "message")) as [Assignment];
const { contender, ids, addresses, project, arrivals, clients, mostClients, areCold = false } = assignment;
const SET_UP_AT_ONCE = 50;

let made = 0;
const newClient = () => client(addresses[made++ % addresses.length], project);
const population = new Population<Client>(newClient, clients, mostClients);
const acknowledged = arrivals.map(() => Number.POSITIVE_INFINITY);
const lateness: Millis[] = [];
const errors: Record<string, number> = {};
let pending = arrivals.length;
let start = 0;

async function offer(): Promise<void> {
  for (const [n, arrival] of arrivals.entries()) {
    const wait = start + arrival - epochNow();
    if (wait > 0) await sleep(wait);
    lateness.push(epochNow() - start - arrival);
    void increment(n);
  }
}

async function increment(n: number): Promise<void> {
  try {
    const write = ({ db }: Client) => WRITES[contender].increment(db, ids[n % ids.length] as string);
    await (areCold ? write(population.all[n % clients] as Client) : population.act(write));
    acknowledged[n] = epochNow();
  } catch (error) {
    const { code = "unknown" } = error as { code?: string };
    errors[code] = (errors[code] ?? 0) + 1;
  }
  pending--;
}

/** The clients are not closed but end with the process: closing one whose writes are being refused was seen never to end. */
function stop(): void {
  const samples = arrivals.map((at, n) => ({ intended: start + at, acknowledged: acknowledged[n] as Millis }));
  const outcome: Outcome = { samples, lateness, errors, clients: population.all.length };
  process.send?.(outcome, () => process.exit(0));
}

process.on("message", (order: Order) => {
  if (order === "stop") stop();
  else if (order === "pending") process.send?.(pending);
  else if (typeof order === "number") {
    start = order;
    void offer();
  }
});
// Users have the page open when they increment: their clients have been set up and have connected.
const waiting = areCold ? [] : [...population.all];
while (waiting.length > 0) {
  await Promise.all(waiting.splice(0, SET_UP_AT_ONCE).map(({ db }) => getDoc(doc(db, "counters/none"))));
}
process.send?.("ready");
