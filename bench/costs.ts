/**
 * What an increment costs, all in: document reads, writes and deletes, function invocations and tasks per 1,000
 * increments, at several rates, as counted on the wire between the SDKs, the functions and Firestore.
 *
 *     npm run costs
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import Table from "cli-table3";
import { PRICES } from "../costs/src/index.ts";
import { startEmulators } from "../testkit/emulators/emulators.ts";
import { type Meter, startMeter, type Usage } from "../testkit/meter.ts";

/** US dollars for one. */
const { read: reads, write: writes, delete: deletes, invocation: invocations, task: tasks } = PRICES.nam5;
const PRICE = { reads, writes, deletes, invocations, tasks };

/** Traffic to price: increments per second, for how long, from how many clients. */
const LOADS = [
  { perSecond: 0.5, seconds: 120, clients: 5 },
  { perSecond: 10, seconds: 40, clients: 20 },
  { perSecond: 100, seconds: 30, clients: 20 },
];

interface Bill extends Usage {
  invocations: number;
  tasks: number;
}

let functionsMeter: Meter | undefined;
const suite = await startEmulators({
  packaging: "plain",
  params: {},
  functionsFirestore: async (firestore) => {
    functionsMeter = await startMeter(firestore);
    return functionsMeter.address;
  },
});
Object.assign(process.env, suite.env);
try {
  // Only now, because they look for the suite when they are loaded.
  const { client } = await import("../testkit/clients.ts");
  const { incrementSteadily, watchTotals } = await import("../testkit/traffic.ts");
  const clientsMeter = await startMeter(suite.env.FIRESTORE_EMULATOR_HOST as string);
  const warmUp = Array.from({ length: 20 }, () => client());
  // Counters that stay on one shard: one that grew would be polled while another's bill is counted.
  await Promise.all(warmUp.map((one, n) => incrementSteadily([one], `costs:warmup${n}`, 1, 3)));
  await sleep(5_000);

  const table = new Table({
    head: ["increments/s", "reads", "writes", "deletes", "invocations", "tasks", "$ per million", "exact"],
    colAligns: Array(8).fill("right"),
    style: { head: [], border: [] },
  });
  for (const { perSecond, seconds, clients } of LOADS) {
    process.stderr.write(`${perSecond} increments per second for ${seconds} s from ${clients} clients… `);
    const id = `costs:at${perSecond}`;
    const writers = Array.from({ length: clients }, () => client(clientsMeter.address));
    const watcher = await watchTotals(client(), id);
    const before = bill(clientsMeter.usage);
    const { acknowledged } = await incrementSteadily(writers, id, perSecond, seconds);
    await watcher.reached(acknowledged);
    await sleep(5_000);
    const used = per(1_000 / acknowledged, difference(bill(clientsMeter.usage), before));
    watcher.stop();
    await Promise.all(writers.map((one) => one.close()));
    const dollars =
      (Object.keys(PRICE) as (keyof Bill)[]).reduce((sum, one) => sum + used[one] * PRICE[one], 0) * 1_000;
    const figures = (Object.keys(PRICE) as (keyof Bill)[]).map((one) => used[one].toFixed(0));
    table.push([perSecond, ...figures, dollars.toFixed(2), watcher.seen.at(-1)?.total === acknowledged ? "yes" : "NO"]);
    process.stderr.write("done.\n");
  }
  console.log("\nPer 1,000 increments: clients and functions together, without the reads of people who watch");
  console.log(table.toString());
  console.log("The floor is $1.80: the write of the increment itself.");
  clientsMeter.close();
} finally {
  await suite.stop();
  functionsMeter?.close();
}
process.exit(0);

/** Everything used so far, by clients and functions. A task is counted when it runs: each runs once. */
function bill(clients: Usage): Bill {
  const log = readFileSync(suite.env.TALLY_LOG as string, "utf8");
  const runs = (name: string) => log.split(`Beginning execution of "us-central1-tally-${name}`).length - 1;
  const functions = functionsMeter?.usage as Usage;
  return {
    reads: clients.reads + functions.reads,
    writes: clients.writes + functions.writes,
    deletes: clients.deletes + functions.deletes,
    invocations: runs(""),
    tasks: runs("aggregate"),
  };
}

function difference(after: Bill, before: Bill): Bill {
  return per(
    1,
    Object.fromEntries(Object.entries(after).map(([one, n]) => [one, n - before[one as keyof Bill]])) as never,
  );
}

function per(factor: number, used: Bill): Bill {
  return Object.fromEntries(Object.entries(used).map(([one, n]) => [one, n * factor])) as unknown as Bill;
}
