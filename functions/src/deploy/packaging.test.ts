import type { Functions } from "firebase-admin/functions";
import { afterEach, describe, expect, test, vi } from "vitest";
// @ts-expect-error: it is not among the declarations.
import { extractStack } from "../../../node_modules/firebase-functions/lib/runtime/loader.js";
import { FUNCTIONS } from "./functions.ts";
import { GROUP } from "./packaging.ts";
import { cloudTasks } from "./queue.ts";

afterEach(() => vi.unstubAllEnvs());

describe("the exported functions", () => {
  const names = [...FUNCTIONS.keys()].toSorted();
  /** Names and entry points as firebase-functions finds them: it skips what is not defined, and goes into groups. */
  async function exported(environment: Record<string, string | undefined>) {
    vi.stubEnv("GCLOUD_PROJECT", "demo-tally");
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    vi.resetModules();
    const found: Record<string, { entryPoint?: string }> = {};
    extractStack({ ...(await import("../index.ts")) }, found, [], {});
    return Object.entries(found)
      .map(([name, { entryPoint }]) => [name, entryPoint])
      .toSorted();
  }

  test("of a plain codebase begin with tally-", async () => {
    const functions = await exported({ EXT_INSTANCE_ID: undefined, FIREBASE_KIT_INSTANCE_ID: undefined });
    expect(functions).toEqual(names.map((name) => [`${GROUP}-${name}`, `${GROUP}.${name}`]));
  });

  test.each(["EXT_INSTANCE_ID", "FIREBASE_KIT_INSTANCE_ID"])("have no group where %s is set", async (variable) => {
    const others = { EXT_INSTANCE_ID: undefined, FIREBASE_KIT_INSTANCE_ID: undefined };
    expect(await exported({ ...others, [variable]: "main" })).toEqual(names.map((name) => [name, name]));
  });
});

test.each([
  [
    "the group's in a plain codebase",
    { K_SERVICE: "tally-shardcreated", FUNCTION_TARGET: "tally.shardcreated" },
    `${GROUP}-aggregate`,
  ],
  [
    "the codebase's and the group's if firebase.json sets a prefix",
    { K_SERVICE: "shop-tally-shardcreated", FUNCTION_TARGET: "tally.shardcreated" },
    `shop-${GROUP}-aggregate`,
  ],
  ["the instance's in an extension, which the SDK adds", { EXT_INSTANCE_ID: "main" }, "aggregate"],
  ["the instance's in a kit, which the SDK adds", { FIREBASE_KIT_INSTANCE_ID: "main" }, "aggregate"],
  [
    "the instance's in an emulated kit, written out",
    { FIREBASE_KIT_INSTANCE_ID: "main", FUNCTIONS_EMULATOR: "true" },
    "kit-main-aggregate",
  ],
])("the prefix of the task queue is %s", (_where, environment, queue) => {
  const none = ["EXT_INSTANCE_ID", "FIREBASE_KIT_INSTANCE_ID", "FUNCTIONS_EMULATOR", "K_SERVICE", "FUNCTION_TARGET"];
  for (const name of none) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const taskQueue = vi.fn();
  cloudTasks({ taskQueue } as unknown as Functions, "us-central1");
  expect(taskQueue.mock.calls[0]?.[0]).toBe(`locations/us-central1/functions/${queue}`);
});
