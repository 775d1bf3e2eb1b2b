/** The example of an app's own test. The example's app has the emulators' default project, so no other file runs beside it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("an app's own test passes", async () => {
  const options = { env: { ...process.env, NO_COLOR: "1" } };
  const { stdout } = await promisify(execFile)("vitest", ["run", "--root", "examples/views"], options);
  expect(stdout).toMatch(/Tests +1 passed/);
});
