/** Events sent to one instance of ingest: what they cost, how late a watcher sees them, and how many it takes. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ALTERNATIVE_PRICES, type Operations, PRICES, priceOf } from "../costs/src/index.ts";
import { client } from "../testkit/clients.ts";
import { countInvocations } from "../testkit/deployedFunctions.ts";
import type { ServedFunction } from "../testkit/functionServer.ts";
import type { MeterReading } from "../testkit/meter.ts";
import { type Millis, percentile, visibilityDelays } from "../testkit/statistics.ts";
import { readPublished } from "../testkit/storedCounter.ts";
import { callAt, watchTotals } from "../testkit/traffic.ts";
import { until } from "../testkit/until.ts";

const PER_SECOND = 1_000;
const SECONDS = 20;
/** Of an instance: as the functions are deployed. */
const INSTANCE = { cpus: 1, gib: 0.5 };

export interface Measured {
  readonly batch: number;
  /** Per million events. */
  readonly operations: Operations;
  readonly dollars: number;
  /** From sending an event to a total with it. */
  readonly latency: { readonly p50: Millis; readonly p95: Millis };
  /** Whether the total is the number of events. */
  readonly isExact: boolean;
}

export async function send(served: ServedFunction, counter: string, size: number): Promise<Millis> {
  const body = JSON.stringify({ id: randomUUID(), events: Array(size).fill({ counter }) });
  for (;;) {
    const response = await fetch(served.url, { method: "POST", body });
    await response.text();
    if (response.ok) return performance.now();
    await sleep(1_000);
  }
}

export async function measureCosts(
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
  // Too many would show by now, and too few end the wait.
  await until(() => (watch.seen.at(-1)?.total ?? 0) >= events, "the total", 60_000).catch(() => {});
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
  const published = await readPublished(counter);
  await watcher.close();
  return {
    batch,
    operations,
    dollars: priceOf(operations, PRICES.nam5) + compute,
    latency: { p50: percentile(delays, 0.5), p95: percentile(delays, 0.95) },
    isExact: published?.total === events,
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

/** Events per second that one instance takes from as many senders as an instance has requests at a time, each of which sends the next batch after an answer. */
export async function measureThroughput(served: ServedFunction, batch: number): Promise<number> {
  const seconds = 10;
  const end = performance.now() + seconds * 1_000;
  let events = 0;
  const sendOn = async () => {
    while (performance.now() < end) {
      await send(served, `bench:throughput${batch}`, batch);
      events += batch;
    }
  };
  await Promise.all(Array.from({ length: 200 }, sendOn));
  return events / seconds;
}
