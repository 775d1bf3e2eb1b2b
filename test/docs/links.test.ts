/** Every relative link, heading and path in the Markdown files exists. `site/checkLinks.ts` checks the same on the built site. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import GithubSlugger from "github-slugger";
import { expect, test } from "vitest";

/** The reference is generated from the doc comments: only the site has it. */
const files = globSync(["*.md", "site/index.md", "{docs,examples,bench,client,functions,mobile,.github}/**/*.md"], {
  exclude: (name) => /node_modules|docs\/reference/.test(name),
});

/** Without what is inside code blocks. */
const proseOf = (file: string) => readFileSync(file, "utf8").replace(/^( *)```[\s\S]*?^\1```$/gm, "");

function anchorsOf(file: string): string[] {
  const slugger = new GithubSlugger();
  return [...proseOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => slugger.slug(heading));
}

test("every relative link leads to a file and a heading", () => {
  expect(files.length).toBeGreaterThan(15);
  for (const file of files) expectLinks(file);
});

function expectLinks(file: string): void {
  for (const [, link = ""] of proseOf(file).matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)) {
    const [path = "", anchor] = link.split("#", 2);
    const target = path ? normalize(join(dirname(file), path)) : file;
    expect(existsSync(target), `${file} links to ${link}`).toBe(true);
    if (anchor && statSync(target).isFile()) expect(anchorsOf(target), `${file} links to ${link}`).toContain(anchor);
  }
}

test("every path of the sources exists", () => {
  const path =
    /`((?:core|client|admin|functions|costs|cli|web|mobile|testkit|examples|bench|demo|scripts|test)\/[\w/.-]+\.[a-z]+)`/g;
  for (const file of files.filter((one) => one !== "CHANGELOG.md")) {
    for (const [, source = ""] of proseOf(file).matchAll(path)) {
      // Built or written by a deployment.
      if (/^functions\/\.env|\/(dist|lib)\//.test(source)) continue;
      expect(existsSync(source), `${file} names ${source}`).toBe(true);
    }
  }
});

test("every file that a page beside the sources names is there", () => {
  const pages = files.filter((file) => /^(functions|client|mobile|bench)\/.*\.md$/.test(file));
  const missing = pages.flatMap((page) =>
    [...proseOf(page).matchAll(/`([\w-]+\.ts)`/g)]
      .filter(([, name = ""]) => !existsSync(join(dirname(page), name)))
      .map(([, name]) => `${page} names ${name}`),
  );
  expect(missing).toEqual([]);
});

test("README is at most 1,050 words, each page of the guide 300, all others in docs/ together 27,000", () => {
  const words = (file: string) =>
    readFileSync(file, "utf8")
      .split(/\s+/)
      // Without the lines of tables.
      .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  expect(words("README.md")).toBeLessThanOrEqual(1_050);
  const [guide, others] = [/^docs\/guide\//, /^docs\/(?!guide\/)/].map((path) =>
    files.filter((file) => path.test(file)),
  );
  for (const file of guide ?? []) expect(words(file), file).toBeLessThanOrEqual(300);
  expect((others ?? []).reduce((sum, file) => sum + words(file), 0)).toBeLessThanOrEqual(27_000);
});

test("each price on the site's first page is in docs/costs.md", () => {
  const prices = readFileSync("site/index.md", "utf8").match(/\$\d+\.\d+/g) ?? [];
  expect(prices.length).toBeGreaterThan(0);
  for (const price of prices) expect(readFileSync("docs/costs.md", "utf8")).toContain(price);
});
