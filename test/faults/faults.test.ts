/**
 * Faults on the real suite, under load: whatever is killed, stopped, cut, lost or repeated, each acknowledged increment
 * counts once, totals only go forward, and every total is right soon after, without another write and without a sweep
 * (I1 to I4, I8). It starts a suite of its own, since it breaks it.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { cutConnections, disturbDelivery, type Fault, killInstances, outages, together } from "./chaos.ts";
import { type Rig, startRig } from "./rig.ts";

let rig: Rig;
let trial: typeof import("./trial.ts");

beforeAll(async () => {
  rig = await startRig();
  // Only now, because it looks for the suite when it is loaded.
  trial = await import("./trial.ts");
}, 120_000);
afterAll(() => rig?.stop());

async function survives(name: string, fault: Fault, seconds: number): Promise<void> {
  const verdict = await trial.tryFault(rig, name, fault, seconds);
  console.log(trial.describeVerdict(verdict));
  expect(verdict.wrong).toEqual([]);
  const injected = Object.entries(verdict.injected);
  const [rare, common] = [true, false].map((is) => injected.filter(([kind]) => is === kind.includes("task")));
  expect(common?.filter(([, times]) => times === 0)).toEqual([]);
  // Each kind about tasks may miss the few that there are in a trial, but not all of them.
  if (rare?.length) expect(rare.reduce((sum, [, times]) => sum + times, 0)).toBeGreaterThan(0);
}

test("connections of web clients, servers and functions are cut between commit and acknowledgement: every total is exact", () =>
  survives("cut", cutConnections, 7));

test("events and tasks are lost once, doubled, late and out of order: every total is exact", () =>
  survives("delivery", disturbDelivery, 5));

test("kill -9 of the functions' instances at random, then of all at once, while writers go on: every total is exact", () =>
  survives("kill", together(killInstances, outages), 9));
