/** Observes every published total during a run, and reports violations of their order. */
import { setTimeout as sleep } from "node:timers/promises";
import { type QuerySnapshot, Timestamp } from "firebase-admin/firestore";
import { toMillis } from "../../functions/src/counter/time.ts";
import { admin } from "../../testkit/clients.ts";

export interface PublishedState {
  readonly asOf: number;
  readonly writes: number;
  /** How many direct writes there are. `sumOfShards` does not have them. */
  readonly directWrites: number;
  /** The part of the total that increments on shards have made. */
  readonly sumOfShards: number;
  /** How often the counter was published until then. */
  readonly publishes: number;
}

export interface PublishMonitor {
  /** Every violation of I1 (one total for each instant), I3 (only forward) and I4 (the interval). */
  violations(): string[];
  /** What was seen of each counter, in order. */
  seen(): ReadonlyMap<string, readonly PublishedState[]>;
  stop(): Promise<void>;
}

/** The shortest time between two publishes, by default. */
const MIN_INTERVAL_MS = 1_000;

/** Listens and reads: under load the emulator's listeners miss some changes, and reads miss the states between them. */
export function monitorPublishes(): PublishMonitor {
  const states = new Map<string, Map<number, PublishedState>>();
  const violations: string[] = [];
  let isStopped = false;

  const observer = () => {
    const last = new Map<string, PublishedState>();
    return (snapshot: QuerySnapshot) => {
      for (const { id, data } of snapshot.docs.map((doc) => ({ id: doc.id, data: doc.data() }))) {
        const { asOf, writes, publishes, direct = { count: 0, writes: 0 } } = data;
        const now: PublishedState = {
          asOf: toMillis(asOf),
          writes,
          directWrites: direct.writes,
          sumOfShards: data.total - direct.count,
          publishes,
        };
        const before = last.get(id);
        const parts = ["asOf", "writes", "directWrites"] as const;
        if (before && parts.some((part) => now[part] < before[part])) {
          violations.push(`I3: ${id} went back from ${JSON.stringify(before)} to ${JSON.stringify(now)}`);
        }
        const known = states.get(id)?.get(now.asOf);
        if (known && known.sumOfShards !== now.sumOfShards)
          violations.push(`I1: ${id} had two sums of shards for ${now.asOf}`);
        last.set(id, now);
        states.set(id, (states.get(id) ?? new Map()).set(now.asOf, now));
      }
    };
  };
  const counters = admin.collection("counters").where("asOf", ">", Timestamp.now());
  const unsubscribe = counters.onSnapshot(observer());
  const reading = readRepeatedly(observer());
  return {
    violations: () => [...violations, ...[...states].flatMap(([id, states]) => shortIntervals(id, states))],
    seen: () => new Map([...states].map(([id, seen]) => [id, [...seen.values()].sort((a, b) => a.asOf - b.asOf)])),
    async stop() {
      isStopped = true;
      unsubscribe();
      await reading;
    },
  };

  async function readRepeatedly(observe: (snapshot: QuerySnapshot) => void): Promise<void> {
    while (!isStopped) {
      observe(await counters.get());
      await sleep(100);
    }
  }
}

function shortIntervals(id: string, states: ReadonlyMap<number, PublishedState>): string[] {
  const asOf = [...states.keys()].sort((a, b) => a - b);
  return asOf.flatMap((at, i) => {
    const gap = at - (asOf[i - 1] ?? Number.NEGATIVE_INFINITY);
    return gap < MIN_INTERVAL_MS ? [`I4: ${id} was published twice within ${gap} ms`] : [];
  });
}
