/**
 * A sale under faults: a thousand users want one of 500 units, on connections of their own that are cut, while the functions
 * are killed and their events disturbed. Each unit is sold once, no shard falls below zero, and who comes too late is told so.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { deleteApp, initializeApp } from "firebase/app";
import { connectFirestoreEmulator, getFirestore } from "firebase/firestore";
import { counter, incrementCounter, takeFromCounter } from "firestore-tally";
import * as server from "firestore-tally/admin";
import { admin } from "../../testkit/clients.ts";
import { type Percentiles, percentilesOf } from "../../testkit/statistics.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import type { FaultEnvironment } from "./environment.ts";
import type { FaultCounts } from "./faults.ts";
import { retryWhileUnavailable } from "./workload.ts";

export interface SaleResult {
  readonly injected: FaultCounts;
  readonly units: number;
  readonly sold: number;
  readonly soldOut: number;
  /** From a user's call to its unit. */
  readonly takes: Percentiles;
  /** Plain increments of some of the users, at the same time. */
  readonly increments: Percentiles;
  /** From the last sale, or the user's own call if that was later, until the user was told "sold out". */
  readonly tellings: Percentiles;
  /** Every error, and every violation of what a sale promises. */
  readonly violations: readonly string[];
}

export interface SaleOptions {
  readonly users: number;
  readonly units: number;
  readonly shards: number;
  /** Units that a server adds in the middle. */
  readonly restock: number;
  /** How long users come. */
  readonly seconds: number;
}

const DEFAULTS: SaleOptions = { users: 1_000, units: 500, shards: 20, restock: 0, seconds: 60 };

/** One user in so many also increments a counter. */
const INCREMENTING = 4;

/** How late a user may be told. */
const TOLD_WITHIN_MS = 5_000;

export async function runSale(
  { connections }: FaultEnvironment,
  name: string,
  fault: (workloadEnd: Promise<void>) => Promise<FaultCounts>,
  options: Partial<SaleOptions> = {},
): Promise<SaleResult> {
  const { users, units, shards, restock, seconds } = { ...DEFAULTS, ...options };
  const id = `tickets:${name}`;
  const violations: string[] = [];
  await server.ensureCounter(server.counter(admin, id), { initial: units, bounded: true, shards });
  // For the increments beside it, which then meet no more contention than the takes.
  await server.ensureCounter(server.counter(admin, `views:${name}`), { shards });
  const stopWatching = watchShards(id, violations);

  const [host = "", port] = connections.web.address.split(":");
  const connect = (uid: string) => {
    const app = initializeApp({ projectId: process.env.GCLOUD_PROJECT ?? "", apiKey: "any" }, `${name}-${uid}`);
    const db = getFirestore(app);
    connectFirestoreEmulator(db, host, Number(port), { mockUserToken: { sub: uid } });
    return { db, close: () => deleteApp(app) };
  };
  const [takes, increments]: number[][] = [[], []];
  const refused: { calledAt: number; toldAt: number }[] = [];
  let lastSaleAt = 0;
  const buy = async (user: number) => {
    await sleep((user * seconds * 1_000) / users);
    const uid = `user${user}`;
    const { db, close } = connect(uid);
    const calledAt = performance.now();
    const increment =
      user % INCREMENTING === 0 &&
      incrementCounter(counter(db, `views:${name}`)).then(() => increments?.push(performance.now() - calledAt));
    try {
      const taken = await retryWhileUnavailable(() => takeFromCounter(counter(db, id), 1, { once: uid }));
      if (taken !== 1) violations.push(`${uid} took ${taken}`);
      lastSaleAt = performance.now();
      takes?.push(lastSaleAt - calledAt);
    } catch (error) {
      if ((error as { code?: string }).code !== "counter/sold-out")
        violations.push(`a take of ${uid} failed: ${error}`);
      else refused.push({ calledAt, toldAt: performance.now() });
    }
    await increment;
    await close();
  };
  const allBuyers = Promise.all(Array.from({ length: users }, (_, user) => buy(user)));
  const restocking = sleep((seconds * 1_000) / 3).then(async () => {
    if (restock > 0) await server.incrementCounter(server.counter(admin, id), restock);
  });
  const end = Promise.all([allBuyers, restocking]).then(() => {});
  const injected = await fault(end);
  await end;

  const sold = (await admin.collection(`counters/${id}/tallyEntries`).count().get()).data().count;
  const expected = Math.min(units + restock, users);
  if (sold !== expected) violations.push(`${sold} entries for ${expected} units`);
  if (takes?.length !== expected) violations.push(`${takes?.length} users were told that they have a unit`);
  if ((await sumOfIncrements(id)) !== units + restock - sold)
    violations.push(`${await sumOfIncrements(id)} units are left of ${units + restock}, though ${sold} were sold`);
  const tellings = refused.map(({ calledAt, toldAt }) => toldAt - Math.max(calledAt, lastSaleAt));
  for (const ms of tellings.filter((ms) => ms > TOLD_WITHIN_MS))
    violations.push(`a user was told "sold out" ${Math.round(ms)} ms after the last sale`);
  await until(
    async () => (await readPublished(id))?.total === units + restock - sold,
    `the total of ${id}`,
    150_000,
  ).catch((error) => violations.push(String(error)));
  stopWatching();
  return {
    ...{ injected, sold, violations, units: units + restock, soldOut: refused.length },
    takes: percentilesOf(takes ?? []),
    increments: percentilesOf(increments ?? []),
    tellings: percentilesOf(tellings),
  };
}

/** Reports each snapshot of the shards in which one is below zero. */
function watchShards(id: string, violations: string[]): () => void {
  return admin.collection(`counters/${id}/shards`).onSnapshot((shards) => {
    for (const shard of shards.docs) {
      if (shard.get("count") < 0) violations.push(`shard ${shard.id} of ${id} had ${shard.get("count")} units`);
    }
  });
}

/** The figures, in one line. */
export function describeSale({
  injected,
  units,
  sold,
  soldOut,
  takes,
  increments,
  tellings,
  violations,
}: SaleResult): string {
  const faults = Object.entries(injected).map(([kind, count]) => `${count} ${kind}`);
  const seconds = ({ p50, p99 }: Percentiles) => `${(p50 / 1_000).toFixed(2)} s (p99 ${(p99 / 1_000).toFixed(1)} s)`;
  return [
    `${faults.join(", ") || "no faults"}: ${sold} of ${units} units sold, ${soldOut} users told "sold out"`,
    `a take took ${seconds(takes)}, an increment ${seconds(increments)}, "sold out" was told after ${seconds(tellings)}`,
    violations.length === 0 ? "exact" : `${violations.length} VIOLATIONS`,
  ].join("; ");
}
