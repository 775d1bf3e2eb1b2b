/** Each feature can be deleted: what is left compiles, passes its unit tests and counts on the emulator. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { FEATURE_PLANS } from "../../functions/src/features/plans.ts";

describe("without a feature, the project counts", { tags: "nightly" }, () => {
  test.each(FEATURE_PLANS.map(({ name }) => name))("%s", async (name) => {
    const { stdout } = await promisify(execFile)("node", ["scripts/withoutFeature.ts", name]);
    expect(stdout).toContain(`Without ${name}`);
  });
});
