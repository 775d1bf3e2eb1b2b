/**
 * Ingest: what a million events cost in batches of 1, 10 and 100 at a thousand events a second, as billed on the wire, how late
 * a watcher sees them, and how many a single instance takes at most.
 *
 *     npm run bench:ingest
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import Table from "cli-table3";
import { ALTERNATIVE_PRICES, type Operations, PRICES, priceOf } from "../costs/src/index.ts";
import { client } from "../testkit/clients.ts";
import { countInvocations } from "../testkit/deployedFunctions.ts";
import { type ServedFunction, serveFunction } from "../testkit/functionServer.ts";
import { type GrpcProxy, startProxy } from "../testkit/grpcProxy.ts";
import { type MeterReading, meter } from "../testkit/meter.ts";
import { type Millis, percentile, visibilityDelays } from "../testkit/statistics.ts";
import { callAt, watchTotals } from "../testkit/traffic.ts";
import { withEmulators } from "./meteredEmulators.ts";

const PER_SECOND = 1_000;
const SECONDS = 20;
const BATCHES = [1, 10, 100];
const PARAMS = { INGEST_COUNTERS: "bench:*", INGEST_AMOUNT_PER_SECOND: "1000000" };
/** Of an instance: as the functions are deployed. */
const INSTANCE = { cpus: 1, gib: 0.5 };

interface Measured {
  readonly batch: number;
  /** Per million events. */
  readonly operations: Operations;
  readonly dollars: number;
  /** From sending an event to a total with it. */
  readonly latency: { readonly p50: Millis; readonly p95: Millis };
  /** Whether the total is the number of events. */
  readonly isExact: boolean;
}

/** Counts what one database is asked by ingest and by the functions that publish. */
async function meteredProxy(firestore: string): Promise<{ reading: MeterReading; proxy: GrpcProxy }> {
  const { reading, inspection } = meter();
  return { reading, proxy: await startProxy(firestore, [inspection]) };
}

async function send(served: ServedFunction, counter: string, size: number): Promise<Millis> {
  const body = JSON.stringify({ id: randomUUID(), events: Array(size).fill({ counter }) });
  for (;;) {
    const response = await fetch(served.url, { method: "POST", body });
    await response.text();
    if (response.ok) return performance.now();
    await sleep(1_000);
  }
}

async function measureCosts(
  served: ServedFunction,
  readings: readonly MeterReading[],
  batch: number,
): Promise<Measured> {
  const counter = `bench:${batch}`;
  const watcher = client();
  const watch = await watchTotals(watcher, counter);
  const before = usageOf(readings);
  const invocationsBefore = countInvocations().all;
  const requests = (PER_SECOND * SECONDS) / batch;
  const instants = Array.from({ length: requests }, (_, n) => (n * SECONDS * 1_000) / requests);
  const start = performance.now();
  await callAt(instants, async () => {
    await send(served, counter, batch);
  });
  const events = requests * batch;
  await watch.reached(events);
  const used = usageOf(readings);
  const invocations = countInvocations().all - invocationsBefore + requests;
  watch.stop();
  const perMillion = 1e6 / events;
  const ids = requests;
  const operations: Operations = {
    read: (used.reads - before.reads) * perMillion,
    write: (used.writes - before.writes) * perMillion,
    // The TTL policy deletes the receipts a day later.
    delete: (used.deletes - before.deletes + ids) * perMillion,
    invocation: invocations * perMillion,
    task: 0,
  };
  const { cpuSecond, gibSecond } = ALTERNATIVE_PRICES;
  const compute = (INSTANCE.cpus * cpuSecond + INSTANCE.gib * gibSecond) * (1e6 / PER_SECOND);
  const sent = instants.flatMap((instant) => Array<Millis>(batch).fill(start + instant));
  const delays = visibilityDelays(sent, watch.seen);
  const total = watch.seen.at(-1)?.total;
  await watcher.close();
  return {
    batch,
    operations,
    dollars: priceOf(operations, PRICES.nam5) + compute,
    latency: { p50: percentile(delays, 0.5), p95: percentile(delays, 0.95) },
    isExact: total === events,
  };
}

function usageOf(readings: readonly MeterReading[]) {
  const sum = { reads: 0, writes: 0, deletes: 0 };
  for (const { usage } of readings) {
    sum.reads += usage.reads;
    sum.writes += usage.writes;
    sum.deletes += usage.deletes;
  }
  return sum;
}

/** Events per second that one instance takes from 64 senders, each of which sends the next batch after an answer. */
async function measureThroughput(served: ServedFunction, batch: number): Promise<number> {
  const seconds = 10;
  const end = performance.now() + seconds * 1_000;
  let events = 0;
  const sendOn = async () => {
    while (performance.now() < end) {
      await send(served, `bench:throughput${batch}`, batch);
      events += batch;
    }
  };
  await Promise.all(Array.from({ length: 64 }, sendOn));
  return events / seconds;
}

const table = new Table({
  head: [
    "a batch",
    "reads",
    "writes",
    "deletes",
    "invocations",
    "$ per million",
    "late, p50",
    "p95",
    "exact",
    "most per second",
  ],
});
let functions: Awaited<ReturnType<typeof meteredProxy>> | undefined;
await withEmulators(
  "plain",
  async (firestore) => {
    const own = await meteredProxy(firestore);
    const served = await serveFunction("ingest", PARAMS, own.proxy.address);
    const readings = [own.reading, ...(functions ? [functions.reading] : [])];
    // The functions start, and the counters get shards.
    await Promise.all(BATCHES.map(() => send(served, "bench:warmup", 1)));
    await sleep(5_000);
    for (const batch of BATCHES) {
      const { operations, dollars, latency, isExact } = await measureCosts(served, readings, batch);
      const { read, write, delete: deletes, invocation } = operations;
      const counts = [read, write, deletes, invocation].map((count) => Math.round(count).toLocaleString("en"));
      const most = await measureThroughput(served, batch);
      const late = [latency.p50, latency.p95].map((ms) => `${(ms / 1_000).toFixed(2)} s`);
      table.push([
        batch,
        ...counts,
        `$${dollars.toFixed(2)}`,
        ...late,
        isExact ? "yes" : "no",
        Math.round(most).toLocaleString("en"),
      ]);
    }
    console.log(table.toString());
    console.log(`The instance had at most ${Math.round(served.peakMemory() / 1_024 ** 2)} MiB.`);
    await served.kill();
    own.proxy.close();
  },
  async (firestore) => {
    functions = await meteredProxy(firestore);
    return functions.proxy.address;
  },
);
functions?.proxy.close();
process.exit(0);
