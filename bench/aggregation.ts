/**
 * How many counters the functions' code brings up to date: each is measured and published once, in this process, against the
 * emulator. Per second, which the emulator limits as well; and per second of this process's CPU time, which is what an instance
 * of the functions is billed for.
 */
import { runTask } from "../functions/src/deploy/runTask.ts";
import { admin } from "../testkit/clients.ts";
import { inProcessBackend } from "../testkit/inProcessBackend.ts";
import { type Percentiles, percentilesOf } from "../testkit/statistics.ts";

export interface AggregationSpeed {
  readonly shards: number;
  readonly perSecond: number;
  readonly perCpuSecond: number;
  /** Milliseconds of one. */
  readonly took: Percentiles;
}

/** Shards of a counter, and how many counters: enough for some seconds. */
const SIZES = [
  { shards: 1, counters: 1_500 },
  { shards: 10, counters: 1_000 },
  { shards: 100, counters: 200 },
  { shards: 1_000, counters: 24 },
];
const WARM_UP = { shards: 10, counters: 200 };

/** Concurrent aggregations, as an instance may have. */
const CONCURRENCY = 8;

/** @param progress  called with what is measured next */
export async function measureAggregation(progress: (text: string) => void): Promise<AggregationSpeed[]> {
  await aggregateAll(WARM_UP);
  const results: AggregationSpeed[] = [];
  for (const size of SIZES) {
    progress(`${size.counters} counters with ${size.shards} shard(s)`);
    results.push(await aggregateAll(size));
  }
  return results;
}

async function aggregateAll({ shards, counters }: { shards: number; counters: number }): Promise<AggregationSpeed> {
  const { backend } = inProcessBackend();
  const ids = Array.from({ length: counters }, (_, n) => `counter${n}`);
  const writer = admin.bulkWriter({ throttling: false });
  for (const id of ids) {
    for (let n = 0; n < shards; n++) {
      const shard = { shard: `${n}`, count: n, writes: n, at: new Date() };
      void writer.set(backend.counters.doc(`${id}/shards/${n}`), shard);
    }
  }
  await writer.close();

  const took: number[] = [];
  const aggregateSome = async () => {
    for (let id = ids.pop(); id; id = ids.pop()) {
      const start = performance.now();
      await runTask(backend, { counterId: id, due: Date.now() - 2 * backend.snapshotLag, kind: "poll" });
      took.push(performance.now() - start);
    }
  };
  const [start, before] = [performance.now(), process.cpuUsage()];
  await Promise.all(Array.from({ length: CONCURRENCY }, aggregateSome));
  const [seconds, { user, system }] = [(performance.now() - start) / 1_000, process.cpuUsage(before)];
  return {
    shards,
    perSecond: counters / seconds,
    perCpuSecond: counters / ((user + system) / 1e6),
    took: percentilesOf(took),
  };
}
