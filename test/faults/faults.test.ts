/**
 * Faults on the Emulator Suite under load. Each acknowledged increment counts once, totals only go forward, and every
 * total is right soon after the faults end, without another write and without a sweep (I1 to I4, I8). The test starts its
 * own suite, since it breaks it.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FaultEnvironment, startFaultEnvironment } from "./environment.ts";
import { combineFaults, cutConnections, disturbDelivery, type Fault, killInstances, outages } from "./faults.ts";

let environment: FaultEnvironment;
let faultRun: typeof import("./faultRun.ts");

beforeAll(async () => {
  environment = await startFaultEnvironment();
  // Imported late: the module reads the suite's addresses when it loads.
  faultRun = await import("./faultRun.ts");
}, 120_000);
afterAll(() => environment?.stop());

async function expectExactTotals(name: string, fault: Fault, seconds: number): Promise<void> {
  const result = await faultRun.runUnderFault(environment, name, fault, seconds);
  console.log(faultRun.describeResult(result));
  expect(result.violations).toEqual([]);
  const injected = Object.entries(result.injected);
  const [ofTasks, others] = [true, false].map((is) => injected.filter(([kind]) => is === kind.includes("task")));
  expect(others?.filter(([, count]) => count === 0)).toEqual([]);
  // A run has few tasks. A single kind of fault may miss them all, but not every kind.
  if (ofTasks?.length) expect(ofTasks.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(0);
}

test("totals are exact when connections are cut between commit and acknowledgement", () =>
  expectExactTotals("cut", cutConnections, 7));

test("totals are exact when events and tasks are lost once, duplicated, late and out of order", () =>
  expectExactTotals("delivery", disturbDelivery, 5));

test("totals are exact when instances of the functions are killed, one by one and all at once", () =>
  expectExactTotals("kill", combineFaults(killInstances, outages), 9));
