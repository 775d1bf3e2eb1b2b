/** The adoption of counters made by hand, with the functions killed: 4,000 increments, or as many as TALLY_INCREMENTS says. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HostedFaults, startHostedFaults } from "./hosted.ts";

const INCREMENTS = Number(process.env.TALLY_INCREMENTS ?? 4_000);
let environment: HostedFaults;

beforeAll(async () => {
  environment = await startHostedFaults({ ADOPTED: "yes", SHRINK_COOLDOWN_SECONDS: "5" });
}, 120_000);
afterAll(() => environment?.stop());

test("increments by old and new apps before, during and after adopt: exact, and none refused", async () => {
  // Imported late: the modules read the suite's addresses when they load.
  const { runAdoption } = await import("./adoption.ts");
  const { refused, wrong, ...figures } = await runAdoption(environment, INCREMENTS);
  console.log(`adoption: ${JSON.stringify({ ...figures, refused, wrong })}`);
  expect(refused).toEqual([]);
  expect(wrong).toEqual([]);
  expect(figures.acknowledged).toBe(INCREMENTS);
  expect(figures.kills).toBeGreaterThan(0);
  // An update of shard 0 triggers two functions; each publish of a busy counter has a task.
  expect(figures.invocations).toBeLessThan(1.15 * INCREMENTS + 2 * figures.publishes + 100);
}, 1_500_000);
