/**
 * Totals for a crowd: readers of 50 counters behind a caching proxy, nginx, while the counters are written. Some pages show one
 * counter, others five. The functions of the emulators publish the totals; the function `totals` runs as in production, with many
 * requests at a time, and its reads are counted on the wire.
 *
 *     npm run bench:totals -- [--seconds 10] [--per-second 20000] [--writes 100]
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Command, InvalidArgumentError } from "commander";
import { counter, ensureCounter } from "firestore-tally/admin";
import { PROJECT } from "../testkit/emulators/firebase.ts";
import { serveFunction } from "../testkit/functionServer.ts";
import { startMeter } from "../testkit/meter.ts";
import { type Millis, percentilesOf } from "../testkit/statistics.ts";
import { startCachingProxy } from "./cachingProxy.ts";
import { runHttpLoad } from "./httpLoad.ts";
import { dueTimes } from "./loads.ts";
import { withEmulators } from "./meteredEmulators.ts";
import { step } from "./progress.ts";
import { record, resultsFile } from "./results.ts";
import { TABLES } from "./tables.ts";
import { readAges, type Sight, watchPath } from "./totalsReaders.ts";
import type { TotalsResult } from "./totalsResult.ts";
import { epochNow, Writers } from "./writers.ts";

const COUNTERS = Array.from({ length: 50 }, (_, n) => `crowd:${n}`);
const [BUSIEST = "", ...OTHERS] = COUNTERS;
const PATHS = [
  ...COUNTERS.map((id) => [id]),
  ...Array.from({ length: 10 }, (_, n) => COUNTERS.slice(5 * n, 5 * n + 5)),
].map((ids) => `/?ids=${ids.map(encodeURIComponent)}`);

const SHARDS = 150;

/** The counters are written for so long before they are read: the functions start. */
const WARM_UP_SECONDS = 25;

function positive(text: string): number {
  if (!(Number(text) > 0)) throw new InvalidArgumentError("Give a positive number.");
  return Number(text);
}

const program = new Command("npm run bench:totals --")
  .option("--seconds <n>", "how long readers read", positive, 60)
  .option("--per-second <n>", "requests per second", positive, 20_000)
  .option("--writes <n>", "increments per second", positive, 100)
  .parse();
const options = program.opts<{ seconds: number; perSecond: number; writes: number }>();
const hasDefaults = Object.keys(options).every((name) => program.getOptionValueSource(name) === "default");

const result = await withEmulators("plain", (firestore) =>
  step(`Totals (${options.seconds} s after a warm-up of ${WARM_UP_SECONDS} s)`, () => measure(firestore)),
);
for (const [title, table] of Object.entries(TABLES.totals([result]))) console.log(`\n${title}\n\n${table}`);
if (hasDefaults) {
  record<"totals">(resultsFile("totals"), [result]);
  console.log(`\nRecorded in ${resultsFile("totals")}`);
}
process.exit(0);

async function measure(firestore: string): Promise<TotalsResult> {
  const { seconds, perSecond, writes } = options;
  // It needs the running emulators.
  const { adminAt } = await import("../testkit/clients.ts");
  const meter = await startMeter(firestore);
  const totals = await serveFunction("totals", { TOTALS_COUNTERS: "crowd:*" }, meter.address);
  const proxy = await startCachingProxy(new URL(totals.url).host);
  // As for a crowd that is expected: each new shard is an event.
  const database = adminAt(firestore);
  await ensureCounter(counter(database.firestore, BUSIEST), { shards: SHARDS });
  await database.close();
  const ids = OTHERS.flatMap((id) => [...Array.from({ length: 19 }, () => BUSIEST), id]);
  const writers = await Writers.start({
    ...{ approach: "tally", ids, addresses: [firestore], project: PROJECT, clients: 20, maxClients: 60 },
    dueTimes: dueTimes({
      before: { perSecond: writes, seconds: WARM_UP_SECONDS },
      measured: { perSecond: writes, seconds: seconds + 2 },
    }),
  });
  try {
    writers.begin(epochNow());
    await sleep(WARM_UP_SECONDS * 1_000);
    const { reads } = meter.usage;
    const passedOn = proxy.passedOn();
    const sights: Sight[][] = PATHS.map(() => []);
    const end = epochNow() + seconds * 1_000;
    const readers = PATHS.map((path, n) => watchPath(proxy.port, path, end, sights[n] as Sight[]));
    const { took, ...load } = await runHttpLoad({ port: proxy.port, paths: PATHS, perSecond, seconds });
    await Promise.all(readers);
    const counted = { reads: meter.usage.reads - reads, passedOn: proxy.passedOn() - passedOn };
    const { samples } = await writers.stop();
    const acknowledged = Map.groupBy(samples.entries(), ([n]) => ids[n % ids.length] as string);
    const instants = (id: string): Millis[] =>
      (acknowledged.get(id) ?? []).map(([, sample]) => sample.acknowledged).sort((a, b) => a - b);
    const { ages, wentBack } = readAges(sights, new Map(COUNTERS.map((id) => [id, instants(id)])));
    const answerCount = load.answers[200] ?? 0;
    return {
      ...{ counters: COUNTERS.length, seconds, writesPerSecond: writes, offeredPerSecond: perSecond },
      answeredPerSecond: (answerCount * 1_000) / took,
      ...{ answers: load.answers, answered: load.answered, bytesPerAnswer: load.bytes / answerCount },
      passedOnPerSecond: counted.passedOn / seconds,
      readsPerCounterAndSecond: counted.reads / COUNTERS.length / seconds,
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
