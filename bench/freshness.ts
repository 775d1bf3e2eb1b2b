/**
 * How long after its acknowledgement an increment is in a watched total: six counters side by side, from one increment in 20
 * seconds to ten a second, without governor and latency.
 *
 * Each counter has one client that increments and one that watches. A client's increments are acknowledged in the order in
 * which they were committed, so the first total of at least k holds the k-th acknowledged one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { doc, getDoc } from "firebase/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { counter as counterOf, ensureCounter } from "firestore-tally/admin";
import { randomFor } from "../core/testing/random.ts";
import { admin, client } from "../testkit/clients.ts";
import { type Millis, type Percentiles, percentilesOf, visibilityDelays } from "../testkit/statistics.ts";
import { readShards, sumOfIncrements } from "../testkit/storedCounter.ts";
import { callAt, watchTotals } from "../testkit/traffic.ts";

export interface Freshness extends Percentiles {
  readonly perSecond: number;
  readonly increments: number;
  /** From an acknowledgement until the total. `Infinity` if an increment never was in one. */
  readonly mean: Millis;
  readonly max: Millis;
  /** Whether the last total, the sum of the increments and the number of acknowledgements are equal. */
  readonly exact: boolean;
  /** Shard documents at the end. */
  readonly shards: number;
}

const SECONDS = 60;
const RATES = [0.05, 0.2, 0.5, 1, 3, 10];
const SEED = 1;

/** How long the last total may take. */
const TOTAL_TIMEOUT: Millis = 30_000;

export async function measureFreshness(firestore: string): Promise<Freshness[]> {
  // Starts the functions: the emulator runs each concurrent event in a process of its own. Nearly every increment of a counter
  // with many shards creates a shard, and each creation is an event.
  const warmUp = "freshness:warmup";
  await ensureCounter(counterOf(admin, warmUp), { shards: 100 });
  const evenly = Array.from({ length: 40 }, (_, n) => n * 250);
  await Promise.all([warmUp, ...RATES.map((_, n) => `${warmUp}${n}`)].map((id) => measure(firestore, id, evenly)));
  return await Promise.all(
    RATES.map(async (perSecond) => {
      // Poisson arrivals, given their number, are uniform.
      const random = randomFor(SEED, `${perSecond}/s`);
      const length = Math.max(Math.round(perSecond * SECONDS), 1);
      const arrivals = Array.from({ length }, () => random.next() * SECONDS * 1_000).sort((a, b) => a - b);
      return { perSecond, ...(await measure(firestore, `freshness:at${perSecond}`, arrivals)) };
    }),
  );
}

async function measure(firestore: string, id: string, arrivals: readonly Millis[]) {
  const [writer, watcher] = [client(firestore), client(firestore)];
  await getDoc(doc(writer.db, "counters/none"));
  const { seen, stop } = await watchTotals(watcher, id);
  const ref = counter(writer.db, id);
  const acknowledged = await callAt(arrivals, () => incrementCounter(ref));
  const deadline = performance.now() + TOTAL_TIMEOUT;
  const latest = () => seen.at(-1)?.total ?? 0;
  while (latest() < acknowledged.length && performance.now() < deadline) await sleep(50);

  const [shards, counted] = [await readShards(id), await sumOfIncrements(id)];
  stop();
  await Promise.all([writer.close(), watcher.close()]);
  const delays = visibilityDelays(acknowledged, seen);
  return {
    increments: acknowledged.length,
    mean: delays.reduce((sum, delay) => sum + delay, 0) / delays.length,
    ...percentilesOf(delays),
    max: Math.max(...delays),
    exact: latest() === acknowledged.length && counted === acknowledged.length,
    shards: shards.size,
  };
}
