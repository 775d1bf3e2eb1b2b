import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";

test("the decisions import a calendar and no other package, so that a page can be built with them", async () => {
  const entryPoints = [fileURLToPath(new URL("./decisions.ts", import.meta.url))];
  const options = { bundle: true, write: false, format: "esm", packages: "external", metafile: true } as const;
  const { metafile } = await build({ ...options, entryPoints, logLevel: "silent" });
  const imports = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  expect(["luxon"]).toEqual(expect.arrayContaining(imports));
});
