/** The blocks of the guide are excerpts of the examples, every example is in the guide, and all of them type-check. */
import { execFile } from "node:child_process";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const guide = ["docs/guide.md", "docs/servers.md", ...globSync("docs/guide/*.md")]
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");

/** Of other projects than the emulators' tests: frameworks, and a page in a browser, each with a test of its own. */
const TESTED_ELSEWHERE = new Set(["vue", "svelte", "angular", "react-native", "static"]);
const folders = readdirSync("examples", { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !TESTED_ELSEWHERE.has(entry.name) && entry.name !== "node_modules")
  .map(({ name }) => name);

/** Of `sh`, those that name a file: others are commands. */
const blocksOf = (text: string) =>
  [...text.matchAll(/^```(tsx?|rules|sql|html|sh)\n([\s\S]*?)^```$/gm)]
    .map(([, language = "", code = ""]) => {
      const [first = "", ...lines] = code.split("\n");
      return { language, file: /^(?:\/\/|--|#|<!--) (examples\/\S+)/.exec(first)?.[1] ?? "", lines };
    })
    .filter(({ language, file }) => language !== "sh" || file);

const blocks = blocksOf(guide);

test("each block names an example's file in its first line, in the file's language", () => {
  expect(blocks.length).toBeGreaterThan(15);
  for (const { language, file } of blocks) expect(file.split(".").at(-1)).toBe(language);
});

/** The formatter moves an excerpt to the left. */
const unindented = (code: string) => code.replace(/^ +/gm, "").trim();

test.each(blocks)("the block of $file is an excerpt of that file", ({ file, lines }) => {
  let rest = unindented(readFileSync(file, "utf8"));
  for (const part of lines
    .join("\n")
    .split(/^ *\/\/ …$/m)
    .map(unindented)) {
    expect(rest).toContain(part);
    rest = rest.slice(rest.indexOf(part) + part.length);
  }
});

test("the README's programs are whole examples", () => {
  const programs = [...readFileSync("README.md", "utf8").matchAll(/^```tsx?\n([\s\S]*?)^```$/gm)].map(
    ([, code]) => code,
  );
  expect(programs).toEqual(
    ["LikeButton.tsx", "views.ts"].map((file) => readFileSync(`examples/start/${file}`, "utf8")),
  );
});

test("every example is in the guide, and has a test", () => {
  for (const folder of folders) {
    if (folder !== "start") expect(guide).toContain(`examples/${folder}/`);
    expect(readdirSync("test/examples")).toContain(`${folder}.test.ts`);
  }
});

test("the examples, and the samples of init, type-check against the package as it is built", {
  timeout: 120_000,
}, async () => {
  const { stdout } = await promisify(execFile)("tsc", ["-p", "examples"]).catch((error) => error);
  expect(stdout).toBe("");
});
