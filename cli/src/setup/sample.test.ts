import { transform } from "esbuild";
import { expect, test } from "vitest";
import { frameworkOf } from "./project.ts";
import { sampleFor } from "./sample.ts";

function project(dependencies: Record<string, string>, ...files: string[]) {
  return { dependencies, has: (path: string) => ["package.json", ...files].includes(path) };
}

const GROUPS = { views: "pages", likes: "hearts" };
const REACT = { react: "^19.0.0", firebase: "^12.0.0" };

test.each([
  ["React", project(REACT), "counters.jsx"],
  ["React", project(REACT, "src", "tsconfig.json"), "src/counters.tsx"],
  ["a browser", project({ firebase: "^12.0.0", svelte: "^5.0.0" }, "src"), "src/counters.js"],
  ["a browser", project({ react: "^19.0.0", "react-native": "^1.0.0" }), "counters.js"],
  ["a server", project({ "firebase-admin": "^14.0.0", typescript: "^5.0.0" }), "counters.ts"],
] as const)("%s gets a sample that parses: %o", async (framework, app, path) => {
  expect(frameworkOf(app)).toBe(framework);
  const sample = sampleFor(app, GROUPS);
  expect(sample?.path).toBe(path);
  const { text = "" } = sample ?? {};
  for (const group of ["pages", "hearts"]) expect(text).toContain(`\`${group}:\${`);
  expect(text).not.toMatch(/`(views|likes):/);
  const loader = path.split(".").at(-1) as "ts";
  await expect(transform(text, { loader })).resolves.toMatchObject({ warnings: [] });
});

test("there is no sample without an app, without a group for it, or over a file", () => {
  expect(sampleFor({ dependencies: {}, has: () => false }, GROUPS)).toBeUndefined();
  expect(sampleFor(project(REACT), { views: undefined, likes: "likes" })).toBeUndefined();
  expect(sampleFor(project(REACT, "counters.jsx"), GROUPS)).toBeUndefined();
});
