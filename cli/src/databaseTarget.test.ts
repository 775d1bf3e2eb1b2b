import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { describeTarget, resolveTarget } from "./databaseTarget.ts";

const files = (texts: Record<string, string>) => (path: string) => {
  const text = texts[path];
  if (text === undefined) throw new Error(`no ${path}`);
  return text;
};
const none = files({});

/** Works in a folder of this repository. */
const workIn = (folder: string) => vi.spyOn(process, "cwd").mockReturnValue(join(process.cwd(), folder));
afterEach(() => void vi.restoreAllMocks());

const PROJECT_SOURCES = ["--project", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "the key file", ".firebaserc"] as const;

describe("the project", () => {
  test("is the first one named by the option, the environment, the key file and the folder", () => {
    fc.assert(
      fc.property(fc.subarray([...PROJECT_SOURCES], { minLength: 1 }), (known) => {
        const of = (source: (typeof PROJECT_SOURCES)[number]) => (known.includes(source) ? source : undefined);
        const option = of("--project");
        const target = resolveTarget(
          { ...(option && { project: option }) },
          {
            GOOGLE_CLOUD_PROJECT: of("GOOGLE_CLOUD_PROJECT"),
            GCLOUD_PROJECT: of("GCLOUD_PROJECT"),
            GOOGLE_APPLICATION_CREDENTIALS: "key.json",
          },
          files({
            "key.json": JSON.stringify({ project_id: of("the key file") }),
            ".firebaserc": JSON.stringify({ projects: { default: of(".firebaserc") } }),
          }),
        );
        expect(target.project).toBe(known[0]);
      }),
    );
  });

  test("is found from a folder of the project", () => {
    const read = files({ "../../.firebaserc": '{"projects":{"default":"shop"}}' });
    workIn("cli/src");
    expect(resolveTarget({}, {}, read).project).toBe("shop");
  });

  test("is not taken from outside of the repository", () => {
    const read = files({ "../.firebaserc": '{"projects":{"default":"shop"}}' });
    expect(() => resolveTarget({}, {}, read)).toThrow("--project");
  });

  test("is never guessed: without one, the error says how to name it", () => {
    expect(() => resolveTarget({}, {}, none)).toThrow("--project");
    expect(() => resolveTarget({}, {}, files({ ".firebaserc": "not JSON" }))).toThrow("--project");
    expect(() => resolveTarget({}, {}, files({ ".firebaserc": '{"projects":{"default":7}}' }))).toThrow("--project");
  });
});

describe("the emulator", () => {
  const emulatorOf = (emulator: string | true | undefined, host?: string) =>
    resolveTarget({ project: "shop", ...(emulator && { emulator }) }, { FIRESTORE_EMULATOR_HOST: host }, none).emulator;

  test("is used if the option or the environment names it, and not otherwise", () => {
    expect(emulatorOf(undefined)).toBe(null);
    expect(emulatorOf(undefined, "")).toBe(null);
    expect(emulatorOf(undefined, "localhost:9000")).toBe("localhost:9000");
    expect(emulatorOf(true)).toBe("127.0.0.1:8080");
    expect(emulatorOf(true, "localhost:9000")).toBe("localhost:9000");
    expect(emulatorOf("localhost:1", "localhost:9000")).toBe("localhost:1");
  });

  test.each<[path: string, firestore: object, address: string]>([
    ["firebase.json", { port: 8181 }, "127.0.0.1:8181"],
    ["../../firebase.json", { host: "0.0.0.0", port: 8181 }, "127.0.0.1:8181"],
    ["firebase.json", { host: "::" }, "[::1]:8080"],
    ["firebase.json", { host: "shop.local" }, "shop.local:8080"],
  ])("without a value has the address of %s: %j", (path, firestore, address) => {
    workIn("cli/src");
    const text = `{ "emulators": { "firestore": ${JSON.stringify(firestore)} } } // of the shop`;
    const read = (variables: object) =>
      resolveTarget({ project: "shop", emulator: true }, { ...variables }, files({ [path]: text })).emulator;
    expect(read({})).toBe(address);
    expect(read({ FIRESTORE_EMULATOR_HOST: "localhost:9000" })).toBe("localhost:9000");
  });

  test("is not guessed where firebase.json is no JSON", () => {
    const read = files({ "firebase.json": "{" });
    expect(() => resolveTarget({ project: "shop", emulator: true }, {}, read)).toThrow("firebase.json is no JSON");
  });
});

test("a target's description says whether it is production or an emulator", () => {
  const target = resolveTarget({ project: "shop" }, {}, none);
  expect(describeTarget(target)).toBe('production project "shop", database "(default)"');
  expect(describeTarget({ ...target, emulator: "localhost:1", collection: "tallies" })).toBe(
    'emulator at localhost:1, project "shop", database "(default)", collection "tallies"',
  );
});

test("an invalid collection is rejected", () => {
  expect(() => resolveTarget({ project: "shop", collection: "a/b" }, {}, none)).toThrow("counter/invalid-collection");
});
