import { afterEach, expect, test, vi } from "vitest";
import { wholeParam } from "./cliParams.ts";
import { functionOptions, minInstances } from "./functionOptions.ts";

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

test("the instances are those of the parameters; while one has its default, those that an extension had", () => {
  const none = { EXT_MIGRATED_SYSTEM_MININSTANCES: undefined, EXT_MIGRATED_SYSTEM_MAXINSTANCES: undefined };
  expect(optionsWith(none).maxInstances).toBe(wholeParam("MAX_INSTANCES"));
  expect(minInstances()).toBe(wholeParam("MIN_INSTANCES"));
  const most = optionsWith({
    EXT_MIGRATED_SYSTEM_MININSTANCES: "1",
    EXT_MIGRATED_SYSTEM_MAXINSTANCES: "7",
  }).maxInstances;
  expect(`${most}`).toBe("params.MAX_INSTANCES == 10 ? 7 : params.MAX_INSTANCES");
  expect(`${minInstances()}`).toBe("params.MIN_INSTANCES == 0 ? 1 : params.MIN_INSTANCES");
});
