/** The file of parameters, read and resolved by the Firebase CLI's own code as in a deployment without a terminal. */
import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { textParam } from "../../../functions/src/deploy/cliParams.ts";
import { PARAMETERS } from "../../../functions/src/deploy/parameters.ts";
import { completeDotenv, isCut, newDotenv, unknownIn, valuesIn, withoutCutLine, withValues } from "./dotenv.ts";

const require = createRequire(import.meta.url);
const { parse } = require("firebase-tools/lib/functions/env.js");
const { resolveBackend } = require("firebase-tools/lib/deploy/functions/build.js");
const { buildFromV1Alpha1 } = require("firebase-tools/lib/deploy/functions/runtimes/discovery/v1alpha1.js");

const PROJECT = "demo-tally";
const declared = Object.keys(PARAMETERS).map((name) =>
  (textParam(name) as unknown as { toSpec(): { name: string } }).toSpec(),
);

/** @returns the values of the functions' environment, by name */
async function resolve(text: string): Promise<Record<string, string>> {
  const { envs, errors } = parse(text);
  expect(errors).toEqual([]);
  const manifest = { specVersion: "v1alpha1", params: declared, endpoints: {}, requiredAPIs: [] };
  const { envs: values } = await resolveBackend({
    build: buildFromV1Alpha1(manifest, PROJECT, "us-central1", "nodejs24"),
    firebaseConfig: { projectId: PROJECT },
    userEnvs: envs,
    nonInteractive: true,
  });
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, `${value}`]));
}

test("a deployment without a terminal finds a value for each parameter", async () => {
  const values = await resolve(newDotenv({ LOCATION: "europe-west1", VISITORS: "yes" }));
  for (const { name } of declared) expect(values, name).toHaveProperty(name);
  expect(values).toMatchObject({ LOCATION: "europe-west1", VISITORS: "yes", DATABASE_ID: "(default)", MIRRORS: "" });
});

test("without one line it is refused, and completed it passes", async () => {
  const text = newDotenv({ LOCATION: "europe-west1" });
  for (const name of ["MIRRORS", "MAX_SHARDS", "SERVICE_ACCOUNT"]) {
    const without = text.replace(new RegExp(`^${name}=.*\n`, "m"), "");
    await expect(resolve(without)).rejects.toThrow(name);
    const { text: completed, added } = completeDotenv(without, "0.2.0");
    expect(added).toEqual([name]);
    expect(completed.startsWith(without.trimEnd())).toBe(true);
    expect(completed).toContain("# New in 0.2.0.\n");
    expect(await resolve(completed)).toMatchObject({ LOCATION: "europe-west1" });
  }
});

test("a complete file stays, and what is no parameter is named", () => {
  const text = newDotenv({});
  expect(completeDotenv(text, "0.2.0")).toEqual({ text, added: [] });
  expect(unknownIn(`${text}OLD_NAME=1\n`)).toEqual(["OLD_NAME"]);
});

test("values are read as the Firebase CLI reads them, and set where they stand", () => {
  const text = "# LOCATION=nam5\nexport LOCATION = 'us-east1'  # near\nMIRRORS=\"a=b\"\nVISITORS=no\nVISITORS=ingest";
  expect(valuesIn(text)).toEqual(parse(text).envs);
  const edited = withValues(text, { LOCATION: "europe-west1", VISITORS: "ingest", EDITION: "standard" });
  expect(edited).toContain("export LOCATION = europe-west1  # near\n");
  expect(parse(edited)).toEqual({
    envs: { ...parse(text).envs, LOCATION: "europe-west1", EDITION: "standard" },
    errors: [],
  });
  expect(withValues(text, valuesIn(text))).toBe(text);
});

test("a file that ends within a name is cut, and one that ends within a value or has more is not", () => {
  const whole = newDotenv({ LOCATION: "europe-west1" });
  for (let length = 0; length < whole.indexOf("MAX_INSTANCES="); length++) {
    const text = whole.slice(0, length);
    const endsWithin = /(^|\n)[A-Z_]+=.+$|.\n+$/.test(text) ? "a value" : "a name";
    expect(isCut(text), text).toBe(endsWithin === "a name");
    if (endsWithin === "a name")
      expect(newDotenv({ LOCATION: "europe-west1", ...valuesIn(withoutCutLine(text)) })).toBe(whole);
  }
  // An older version had another order.
  const older = whole.replace(/^(WINDOWS=\n)([\s\S]*)/m, "$2$1");
  expect(isCut(older.slice(0, older.indexOf("MAX_INSTANCES=") + 5))).toBe(true);
  const others = [
    whole,
    whole.trimEnd(),
    "DATABASE_ID=eu",
    `${whole}STRIPE_KEY=a`,
    "LOCATION=eu\nDATABA",
    "mine\nLOCA",
  ];
  for (const text of others) expect(isCut(text), text).toBe(false);
});
