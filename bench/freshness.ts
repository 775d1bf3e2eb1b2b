/**
 * How long after its acknowledgement an increment is in the total that a watcher sees: six counters side by side, from one
 * increment in 20 seconds to ten a second, without a governor and without latency.
 *
 * Each counter has one client that increments and one that watches. A client's increments are acknowledged in the order
 * in which they were committed, so the first total of at least k holds the k-th acknowledged one.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { doc, getDoc } from "firebase/firestore";
import { counter, incrementCounter, onCounter } from "firestore-tally";
import { counter as counterOf, ensureCounter } from "firestore-tally/admin";
import { adminAt, client } from "../testkit/clients.ts";
import { type Random, randomFor } from "../testkit/random.ts";
import { type Millis, type Observation, visibilityDelays } from "../testkit/statistics.ts";

export interface Freshness {
  readonly perSecond: number;
  readonly increments: number;
  /** For each increment, in the order of their acknowledgements; `Infinity` if no total came to hold it. */
  readonly delays: readonly Millis[];
  /** Whether the last total, the sum of the shards and the number of acknowledgements are equal. */
  readonly exact: boolean;
  /** Totals of different instants that the watcher saw. */
  readonly publishes: number;
  /** Shard documents at the end. */
  readonly shards: number;
}

const RATES = [0.05, 0.2, 0.5, 1, 3, 10];
const SEED = 1;

/** How long the last total may take. */
const PATIENCE: Millis = 30_000;

export async function measureFreshness(emulator: string, seconds: number): Promise<Freshness[]> {
  // The functions start: the emulator gives each event that is handled at the same time a process of its own. On a counter
  // with many shards nearly every increment creates one, and each creation is an event.
  const crowd = "freshness:warmup";
  const admin = adminAt(emulator);
  await ensureCounter(counterOf(admin.firestore, crowd), { shards: 100 });
  await admin.close();
  await Promise.all([crowd, ...RATES.map((_, n) => `${crowd}${n}`)].map((id) => measure(emulator, id, every(250, 40))));
  return await Promise.all(
    RATES.map(async (perSecond) => {
      const arrivals = poisson(perSecond, seconds, randomFor(SEED, `${perSecond}/s`));
      return { perSecond, ...(await measure(emulator, `freshness:at${perSecond}`, arrivals)) };
    }),
  );
}

function every(interval: Millis, count: number): Millis[] {
  return Array.from({ length: count }, (_, n) => n * interval);
}

/** Poisson arrivals, given that as many come as are expected: then their instants are uniform. */
function poisson(perSecond: number, seconds: number, random: Random): Millis[] {
  const count = Math.max(Math.round(perSecond * seconds), 1);
  return Array.from({ length: count }, () => random.next() * seconds * 1_000).sort((a, b) => a - b);
}

async function measure(emulator: string, id: string, arrivals: readonly Millis[]) {
  const [writer, watcher] = [client(emulator), client(emulator)];
  const admin = adminAt(emulator);
  await getDoc(doc(writer.db, "counters/none"));
  const sights: Observation[] = [];
  const published = new Set<Millis>();
  let unwatch = () => {};
  await new Promise<void>((resolve, reject) => {
    unwatch = onCounter(
      counter(watcher.db, id),
      ({ total, asOf }) => {
        if (total > (sights.at(-1)?.total ?? 0)) sights.push({ at: performance.now(), total });
        if (asOf) published.add(asOf.toMillis());
        resolve();
      },
      reject,
      { optimistic: false },
    );
  });

  const ref = counter(writer.db, id);
  const acknowledged: Millis[] = [];
  const start = performance.now();
  const pending: Promise<void>[] = [];
  for (const arrival of arrivals) {
    await sleep(Math.max(start + arrival - performance.now(), 0));
    pending.push(incrementCounter(ref).then(() => void acknowledged.push(performance.now())));
  }
  await Promise.all(pending);
  const deadline = performance.now() + PATIENCE;
  const seen = () => sights.at(-1)?.total ?? 0;
  while (seen() < acknowledged.length && performance.now() < deadline) await sleep(50);

  const { docs: shards } = await admin.firestore.collection(`counters/${id}/shards`).get();
  const counted = shards.reduce((sum, shard) => sum + (shard.get("count") ?? 0), 0);
  unwatch();
  await Promise.all([writer.close(), watcher.close(), admin.close()]);
  return {
    increments: acknowledged.length,
    delays: visibilityDelays(acknowledged, sights),
    exact: seen() === acknowledged.length && counted === acknowledged.length,
    publishes: published.size,
    shards: shards.length,
  };
}
