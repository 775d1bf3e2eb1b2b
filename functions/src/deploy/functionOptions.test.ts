import { afterEach, expect, test, vi } from "vitest";
import { functionOptions } from "./functionOptions.ts";
import { params } from "./parameters.ts";

afterEach(() => vi.unstubAllEnvs());

function optionsWith(environment: Record<string, string | undefined>) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  return functionOptions();
}

test.each([
  [undefined, "512MiB"],
  ["256MiB", "512MiB"],
  ["1GiB", "1GiB"],
  ["32GiB", "32GiB"],
])("with %s exported from an extension, a function has %s of memory", (exported, memory) => {
  expect(optionsWith({ EXT_MIGRATED_SYSTEM_MEMORY: exported }).memory).toBe(memory);
});

test("the most instances are those of MAX_INSTANCES; where it is 0, those that an extension had", () => {
  expect(optionsWith({ EXT_MIGRATED_SYSTEM_MAXINSTANCES: undefined }).maxInstances).toBe(params.maxInstances);
  expect(`${optionsWith({ EXT_MIGRATED_SYSTEM_MAXINSTANCES: "7" }).maxInstances}`).toBe(
    "params.MAX_INSTANCES == 0 ? 7 : params.MAX_INSTANCES",
  );
});
