/** What tabs of a device show to the users who sign in and out, over a model of the SDK that `../browser/users.test.ts` confirms. */
import { expect, test } from "vitest";
import { runs } from "../../core/testing/runs.ts";
import { buildSimulation, runSeeds } from "./run.ts";

const { numRuns } = runs(10_000);

test(`a tab shows to each user what is possible, in ${numRuns} simulated runs of a device`, {
  timeout: 900_000,
}, async () => {
  const build = await buildSimulation();
  try {
    const { failed, runs } = await runSeeds(build, { world: "users", from: 1, count: numRuns });
    expect(failed, failed && `replay: npm run simulate:faults -- --users --seed ${failed.seed}`).toBeUndefined();
    expect(runs).toBe(numRuns);
  } finally {
    build.remove();
  }
});
