/**
 * Totals for a crowd: readers of 50 counters behind a caching proxy, nginx, while the counters are written. Some pages show one
 * counter, others five. The functions of the emulators publish the totals. The function `totals` runs as in production, with
 * many requests at a time, and its reads are counted on the wire.
 *
 * Increments come from a server. For those of clients the emulator evaluates the rules, which takes more of two cores than all that
 * is measured here.
 *
 *     npm run bench:totals
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue } from "firebase-admin/firestore";
import { counter, ensureCounter } from "firestore-tally/admin";
import { serveFunction } from "../testkit/functionServer.ts";
import { startMeter } from "../testkit/meter.ts";
import { type Millis, percentilesOf } from "../testkit/statistics.ts";
import { startCachingProxy } from "./cachingProxy.ts";
import type { HttpLoad, HttpLoadResult } from "./httpLoadProcess.ts";
import { dueTimes } from "./loads.ts";
import { withEmulators } from "./meteredEmulators.ts";
import { step } from "./progress.ts";
import { record, resultsFile } from "./results.ts";
import { TABLES } from "./tables.ts";
import { readAges, type Sight, type TotalsResult, watchPath } from "./totalsReaders.ts";
import { epochNow } from "./writers.ts";

const COUNTERS = Array.from({ length: 50 }, (_, n) => `crowd:${n}`);
const [BUSIEST = "", ...OTHERS] = COUNTERS;
const PATHS = [
  ...COUNTERS.map((id) => [id]),
  ...Array.from({ length: 10 }, (_, n) => COUNTERS.slice(5 * n, 5 * n + 5)),
].map((ids) => `/?ids=${ids.map(encodeURIComponent)}`);

/** The order in which they are written: 19 of 20 increments are the first counter's. */
const WRITTEN = OTHERS.flatMap((id) => [...Array.from({ length: 19 }, () => BUSIEST), id]);
/** As for a crowd that is expected: each new shard is an event. */
const shardsOf = (id: string) => (id === BUSIEST ? 20 : 1);

/** The counters are written for so long before they are read: the functions start. */
const WARM_UP_SECONDS = 25;

/** How long readers read, and how many requests and increments there are per second. */
const SECONDS = 60;
const READS = 20_000;
const WRITES = 100;

const result = await withEmulators((firestore) =>
  step(`Totals (${SECONDS} s after a warm-up of ${WARM_UP_SECONDS} s)`, () => measure(firestore)),
);
for (const [title, table] of Object.entries(TABLES.totals([result]))) console.log(`\n${title}\n\n${table}`);
record<"totals">(resultsFile("totals"), [result]);
console.log(`\nRecorded in ${resultsFile("totals")}`);
process.exit(0);

async function measure(firestore: string): Promise<TotalsResult> {
  // It needs the running emulators.
  const { admin } = await import("../testkit/clients.ts");
  const { callAt } = await import("../testkit/traffic.ts");
  const meter = await startMeter(firestore);
  const totals = await serveFunction("totals", { TOTALS_COUNTERS: "crowd:*" }, meter.address);
  const proxy = await startCachingProxy(new URL(totals.url).host);
  const acknowledged = new Map(COUNTERS.map((id): [string, Millis[]] => [id, []]));
  for (const id of COUNTERS) await ensureCounter(counter(admin, id), { shards: shardsOf(id) });
  try {
    const before = { perSecond: WRITES, seconds: WARM_UP_SECONDS };
    const times = dueTimes({ before, measured: { perSecond: WRITES, seconds: SECONDS + 2 } });
    const writing = callAt(times, async (n) => {
      const id = WRITTEN[n % WRITTEN.length] as string;
      const shard = String(n % shardsOf(id));
      const fields = { shard, count: FieldValue.increment(1), writes: FieldValue.increment(1) };
      await admin.doc(`counters/${id}/shards/${shard}`).set(fields, { merge: true });
      acknowledged.get(id)?.push(epochNow());
    });
    await sleep(WARM_UP_SECONDS * 1_000);
    const { reads } = meter.usage;
    const passedOn = proxy.passedOn();
    const sights: Sight[][] = PATHS.map(() => []);
    const end = epochNow() + SECONDS * 1_000;
    const readers = PATHS.map((path, n) => watchPath(proxy.port, path, end, sights[n] as Sight[]));
    const { took, ...load } = await runHttpLoad({
      port: proxy.port,
      paths: PATHS,
      perSecond: READS,
      seconds: SECONDS,
    });
    await Promise.all(readers);
    const counted = { reads: meter.usage.reads - reads, passedOn: proxy.passedOn() - passedOn };
    await writing;
    const { ages, wentBack } = readAges(sights, acknowledged);
    const answerCount = load.answers[200] ?? 0;
    return {
      ...{ counters: COUNTERS.length, seconds: SECONDS, writesPerSecond: WRITES, offeredPerSecond: READS },
      answeredPerSecond: (answerCount * 1_000) / took,
      ...{ answers: load.answers, answered: load.answered, bytesPerAnswer: load.bytes / answerCount },
      passedOnPerSecond: counted.passedOn / SECONDS,
      readsPerCounterAndSecond: counted.reads / COUNTERS.length / SECONDS,
      age: percentilesOf([...ages.values()].flat()),
      busiestAge: percentilesOf(ages.get(BUSIEST) ?? []),
      ...{ checked: [...ages.values()].flat().length, wentBack },
    };
  } finally {
    await proxy.stop();
    await totals.kill();
    meter.close();
  }
}

/** Resolves when all requests are answered. */
async function runHttpLoad(load: HttpLoad): Promise<HttpLoadResult> {
  const child = fork(new URL("httpLoadProcess.ts", import.meta.url));
  child.send(load);
  const [result] = await Promise.race([once(child, "message"), once(child, "exit")]);
  if (typeof result !== "object") throw new Error(`the process of the requests ended with ${result}`);
  return result;
}
