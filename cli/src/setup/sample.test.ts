import { type Loader, transform } from "esbuild";
import { expect, test } from "vitest";
import { frameworkOf } from "./project.ts";
import { sampleFor } from "./sample.ts";

function project(packages: string, ...files: string[]) {
  const dependencies = Object.fromEntries(packages.split(" ").map((name) => [name, "*"]));
  return { dependencies, has: (path: string) => ["package.json", ...files].includes(path) };
}

const CHOICE = { views: "pages", likes: "hearts", database: "(default)", collection: "counters" };
const ELSEWHERE = { ...CHOICE, database: "shop", collection: "tallies" };

/** @throws Error unless there is a sample */
function sampleOf(app: Parameters<typeof sampleFor>[0], choice = CHOICE) {
  const sample = sampleFor(app, choice);
  if ("path" in sample) return sample;
  throw new Error(sample.note ?? "no sample");
}

test.each([
  ["React", "firebase react", "react", "jsx"],
  ["React", "firebase firebase-admin next react", "react", "jsx"],
  ["React", "react", "react", "jsx"],
  ["a browser", "firebase svelte", "firestore-tally", "js"],
  ["a server", "firebase-admin", "firestore-tally/admin", "js"],
  ["a server", "firebase-admin next react", "firestore-tally/admin", "js"],
  ["React Native", "firebase react react-native", "react-native", "jsx"],
  ["React Native", "@react-native-firebase/app expo firebase react", "react-native", "jsx"],
])("%s gets its sample, the same in JavaScript and TypeScript: %s", async (framework, packages, module, extension) => {
  const app = project(packages);
  expect(frameworkOf(app)).toBe(framework);
  for (const choice of [CHOICE, ELSEWHERE]) {
    const plain = sampleOf(app, choice);
    const typed = sampleOf(project(packages, "tsconfig.json", "src"), choice);
    expect([plain.path, typed.path]).toEqual([
      `counters.${extension}`,
      `src/counters.${extension.replace("js", "ts")}`,
    ]);
    expect(plain.text).toContain(` from "${module}";\n`);
    for (const group of ["pages", "hearts"]) expect(plain.text).toContain(`\`${group}:\${`);
    expect(plain.text).not.toMatch(/`(views|likes):/);
    const [, reference] = /return (counter\(.*\));/.exec(plain.text) ?? [];
    expect(reference).toBe(
      choice === CHOICE
        ? "counter(getFirestore(), id)"
        : 'counter(getFirestore("shop"), id, { collection: "tallies" })',
    );
    const code = async (text: string, loader: Loader) => (await transform(text, { loader, jsx: "preserve" })).code;
    expect(await code(plain.text, "jsx")).toBe(await code(typed.text, "tsx"));
  }
});

test("there is no sample without an app, without a group for it, or over a file", () => {
  expect(sampleFor({ dependencies: {}, has: () => false }, CHOICE)).toEqual({});
  expect(sampleFor(project("firebase"), { ...CHOICE, views: undefined })).toEqual({});
  expect(sampleFor(project("firebase", "counters.js"), CHOICE)).toEqual({});
});

test("an app with React Native Firebase alone gets no sample, but the reason", () => {
  expect(sampleFor(project("@react-native-firebase/firestore react react-native"), CHOICE)).toEqual({
    note: expect.stringMatching(/imports firebase\/firestore.*compatibility\.md#react-native$/),
  });
});
