/**
 * Runs the faults of test/faults for a given time, one at a time and together.
 *
 *     npm run faults -- [--minutes N | --sales N]
 */
import { parseArgs } from "node:util";
import { startFaultEnvironment } from "./environment.ts";
import {
  combineFaults,
  cutConnections,
  cutCrowd,
  disturbDelivery,
  type FaultCounts,
  killBesideCrowd,
  killInstances,
  outages,
} from "./faults.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, sales: { type: "string", default: "0" } },
});
const [minutes, sales] = [Number(values.minutes), Number(values.sales)];
if (!(minutes > 0 && sales >= 0)) {
  console.error(`--minutes ${values.minutes} --sales ${values.sales}: pass positive numbers.`);
  process.exit(1);
}

const FAULTS = {
  "instances killed": killInstances,
  outages,
  "connections cut": cutConnections,
  "delivery disturbed": disturbDelivery,
  "all at once": combineFaults(killInstances, cutConnections, disturbDelivery, outages),
};

/** How long increments begin in one run. */
const SECONDS = 12;

process.stderr.write("Starting the emulators… ");
const environment = await startFaultEnvironment();
process.stderr.write("ready.\n");
if (sales > 0) await sell();
const { describeResult, runUnderFault } = await import("./faultRun.ts");
const injected: FaultCounts = {};
let runs = 0;
let failed = 0;
let acknowledged = 0;
let slowestMs = 0;
try {
  const end = Date.now() + minutes * 60_000;
  while (Date.now() < end) {
    for (const [name, fault] of Object.entries(FAULTS)) {
      if (Date.now() >= end) break;
      const result = await runUnderFault(environment, `run${runs++}`, fault, SECONDS);
      console.log(`${name}: ${describeResult(result)}`);
      for (const violation of result.violations) console.log(`  ${violation}`);
      for (const [kind, count] of Object.entries(result.injected)) injected[kind] = (injected[kind] ?? 0) + count;
      if (result.violations.length > 0) failed++;
      acknowledged += result.acknowledged;
      slowestMs = Math.max(slowestMs, result.recoveryMs);
    }
  }
} finally {
  await environment.stop();
}
/** Every other sale is restocked. */
async function sell(): Promise<never> {
  const { describeSale, runSale } = await import("./sale.ts");
  const faults = combineFaults(killBesideCrowd, cutCrowd, disturbDelivery);
  let failed = 0;
  try {
    // Starts the functions.
    await runSale(environment, "opening", (end) => end.then(() => ({})), {
      users: 20,
      units: 10,
      shards: 3,
      seconds: 10,
    });
    for (let n = 0; n < sales; n++) {
      const fault = (end: Promise<void>) => faults(environment, end);
      const result = await runSale(environment, `sale${n}`, fault, { restock: n % 2 ? 100 : 0 });
      console.log(`${n + 1}. ${describeSale(result)}`);
      for (const violation of result.violations) console.log(`  ${violation}`);
      if (result.violations.length > 0) failed++;
    }
  } finally {
    await environment.stop();
  }
  console.log(`\n${sales} sales, ${failed} with violations`);
  process.exit(failed > 0 ? 1 : 0);
}

console.log(`\n${runs} runs, ${failed} with violations; ${acknowledged} increments acknowledged`);
console.log(`the slowest run had all totals right ${(slowestMs / 1_000).toFixed(1)} s after its faults ended`);
for (const [kind, count] of Object.entries(injected)) console.log(`${String(count).padStart(8)} ${kind}`);
process.exit(failed > 0 ? 1 : 0);
