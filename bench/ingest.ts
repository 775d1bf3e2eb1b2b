/**
 * Ingest: what a million events cost in batches of 1, 10 and 100 at a thousand events a second, as billed on the wire, how late
 * a watcher sees them, and how many a single instance takes at most.
 *
 *     npm run bench:ingest
 */
import { setTimeout as sleep } from "node:timers/promises";
import { formatWhole } from "../cli/src/format.ts";
import { serveFunction } from "../testkit/functionServer.ts";
import { type Meter, startMeter } from "../testkit/meter.ts";
import type { Measured } from "./ingestLoad.ts";
import { fixed, seconds, tableOf } from "./markdown.ts";
import { withEmulators } from "./meteredEmulators.ts";

const BATCHES = [1, 10, 100];
const PARAMS = { INGEST_COUNTERS: "/bench:.*/", INGEST_AMOUNT_PER_SECOND: "1000000" };

/** They count what one database is asked by ingest, and by the functions that publish. */
const meters: Meter[] = [];
async function metered(firestore: string): Promise<string> {
  const meter = await startMeter(firestore);
  meters.push(meter);
  return meter.address;
}

async function measure(firestore: string): Promise<void> {
  const { measureCosts, measureThroughput, send } = await import("./ingestLoad.ts");
  const served = await serveFunction("ingest", PARAMS, await metered(firestore));
  // The functions start, and the counters get shards.
  await Promise.all(BATCHES.map(() => send(served, "bench:warmup", 1)));
  await sleep(5_000);
  const results: (Measured & { readonly most: number })[] = [];
  for (const batch of BATCHES) {
    const measured = await measureCosts(served, meters, batch);
    results.push({ ...measured, most: await measureThroughput(served, batch) });
  }
  const table = tableOf(results, 0, {
    "a batch": ({ batch }) => batch,
    reads: ({ operations }) => formatWhole(operations.read),
    writes: ({ operations }) => formatWhole(operations.write),
    deletes: ({ operations }) => formatWhole(operations.delete),
    invocations: ({ operations }) => formatWhole(operations.invocation),
    "$ per million": ({ dollars }) => fixed(dollars, 2),
    "late, p50": ({ latency }) => seconds(latency.p50, 2),
    p95: ({ latency }) => seconds(latency.p95, 2),
    exact: ({ isExact }) => (isExact ? "yes" : "no"),
    "most per second": ({ most }) => formatWhole(most),
  });
  console.log(`${table}\n\nThe instance had at most ${Math.round(served.peakMemory() / 1_024 ** 2)} MiB.`);
  await served.kill();
}

await withEmulators(measure, { functionsFirestore: metered });
for (const meter of meters) meter.close();
process.exit(0);
