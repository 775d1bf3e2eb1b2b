/**
 * The faults of test/faults for as long as you like, one at a time and together.
 *
 *     npm run faults -- [--minutes N]
 */
import { parseArgs } from "node:util";
import { cutConnections, disturbDelivery, type Injected, killInstances, outages, together } from "./chaos.ts";
import { startRig } from "./rig.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "10" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error(`--minutes ${values.minutes}: it is a positive number.`);
  process.exit(1);
}

const FAULTS = {
  "instances killed": killInstances,
  outages,
  "connections cut": cutConnections,
  "delivery disturbed": disturbDelivery,
  "all at once": together(killInstances, cutConnections, disturbDelivery, outages),
};

/** How long increments begin in one trial. */
const SECONDS = 12;

process.stderr.write("Starting the emulators… ");
const rig = await startRig();
process.stderr.write("ready.\n");
const { describeVerdict, tryFault } = await import("./trial.ts");
const injected: Injected = {};
let trials = 0;
let failed = 0;
let acknowledged = 0;
let slowest = 0;
try {
  const end = Date.now() + minutes * 60_000;
  while (Date.now() < end) {
    for (const [name, fault] of Object.entries(FAULTS)) {
      if (Date.now() >= end) break;
      const verdict = await tryFault(rig, `trial${trials++}`, fault, SECONDS);
      console.log(`${name}: ${describeVerdict(verdict)}`);
      for (const wrong of verdict.wrong) console.log(`  ${wrong}`);
      for (const [kind, count] of Object.entries(verdict.injected)) injected[kind] = (injected[kind] ?? 0) + count;
      if (verdict.wrong.length > 0) failed++;
      acknowledged += verdict.acknowledged;
      slowest = Math.max(slowest, verdict.rightAfterMs);
    }
  }
} finally {
  await rig.stop();
}
console.log(`\n${trials} trials, ${failed} with anything wrong; ${acknowledged} increments acknowledged`);
console.log(`the last total was right ${(slowest / 1_000).toFixed(1)} s after the faults ended, at the latest`);
for (const [kind, count] of Object.entries(injected)) console.log(`${String(count).padStart(8)} ${kind}`);
process.exit(failed > 0 ? 1 : 0);
