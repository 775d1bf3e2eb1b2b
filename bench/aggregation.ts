/**
 * How many counters the functions' code brings up to date: each measured and published once, in this process, against the
 * emulator. Per second, which the emulator limits as well; and per second of processor time that this process took, which
 * is what an instance of the functions pays for.
 */
import { runTask } from "../functions/src/aggregate.ts";
import { admin } from "../testkit/clients.ts";
import { inProcessBackend } from "../testkit/inProcessBackend.ts";
import { type Percentiles, percentilesOf } from "../testkit/statistics.ts";

export interface AggregationSpeed {
  readonly shards: number;
  readonly perSecond: number;
  readonly perCoreSecond: number;
  readonly took: Percentiles;
}

/** Shards of a counter, and how many counters: enough to take some seconds. */
const SIZES = [
  { shards: 1, counters: 1_500 },
  { shards: 10, counters: 1_000 },
  { shards: 100, counters: 200 },
  { shards: 1_000, counters: 24 },
];

/** Aggregations under way at once, as an instance may have. */
const CONCURRENCY = 8;

export async function measureAggregation(): Promise<AggregationSpeed[]> {
  const results: AggregationSpeed[] = [];
  // Once unmeasured, to warm up.
  for (const size of [{ shards: 10, counters: 200 }, ...SIZES]) results.push(await aggregateAll(size));
  return results.slice(1);
}

async function aggregateAll({ shards, counters }: { shards: number; counters: number }): Promise<AggregationSpeed> {
  const { backend } = inProcessBackend();
  const ids = Array.from({ length: counters }, (_, n) => `counter${n}`);
  const writer = admin.bulkWriter({ throttling: false });
  for (const id of ids) {
    for (let shard = 0; shard < shards; shard++) {
      void writer.set(backend.counters.doc(`${id}/shards/${shard}`), { count: shard, writes: shard, at: new Date() });
    }
  }
  await writer.close();

  const took: number[] = [];
  const waiting = [...ids];
  const lane = async () => {
    for (let id = waiting.pop(); id; id = waiting.pop()) {
      const start = performance.now();
      await runTask(backend, { counterId: id, due: Date.now() - 2 * backend.snapshotLag, isPoll: true });
      took.push(performance.now() - start);
    }
  };
  const [start, before] = [performance.now(), process.cpuUsage()];
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
  const [seconds, { user, system }] = [(performance.now() - start) / 1_000, process.cpuUsage(before)];
  return {
    shards,
    perSecond: counters / seconds,
    perCoreSecond: counters / ((user + system) / 1e6),
    took: percentilesOf(took),
  };
}
