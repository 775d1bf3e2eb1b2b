/**
 * Runs the faults of test/faults for a given time, one at a time and together.
 *
 *     npm run faults -- [--minutes N]
 */
import { parseArgs } from "node:util";
import { startFaultEnvironment } from "./environment.ts";
import { combineFaults, cutConnections, disturbDelivery, type FaultCounts, killInstances, outages } from "./faults.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "10" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error(`--minutes ${values.minutes}: pass a positive number.`);
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
console.log(`\n${runs} runs, ${failed} with violations; ${acknowledged} increments acknowledged`);
console.log(`the slowest run had all totals right ${(slowestMs / 1_000).toFixed(1)} s after its faults ended`);
for (const [kind, count] of Object.entries(injected)) console.log(`${String(count).padStart(8)} ${kind}`);
process.exit(failed > 0 ? 1 : 0);
