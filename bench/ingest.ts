/**
 * Ingest: what a million events cost in batches of 1, 10 and 100 at a thousand events a second, as billed on the wire, how late
 * a watcher sees them, and how many a single instance takes at most.
 *
 *     npm run bench:ingest
 */
import { setTimeout as sleep } from "node:timers/promises";
import Table from "cli-table3";
import { serveFunction } from "../testkit/functionServer.ts";
import { type GrpcProxy, startProxy } from "../testkit/grpcProxy.ts";
import { type MeterReading, meter } from "../testkit/meter.ts";
import { withEmulators } from "./meteredEmulators.ts";

const BATCHES = [1, 10, 100];
const PARAMS = { INGEST_COUNTERS: "/bench:.*/", INGEST_AMOUNT_PER_SECOND: "1000000" };

/** Counts what one database is asked by ingest and by the functions that publish. */
async function meteredProxy(firestore: string): Promise<{ reading: MeterReading; proxy: GrpcProxy }> {
  const { reading, inspection } = meter();
  return { reading, proxy: await startProxy(firestore, [inspection]) };
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
    const { measureCosts, measureThroughput, send } = await import("./ingestLoad.ts");
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
  {
    functionsFirestore: async (firestore) => {
      functions = await meteredProxy(firestore);
      return functions.proxy.address;
    },
  },
);
functions?.proxy.close();
process.exit(0);
