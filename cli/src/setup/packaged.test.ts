import { globSync, readFileSync } from "node:fs";
import GithubSlugger from "github-slugger";
import { expect, test } from "vitest";
import { PAGES } from "./packaged.ts";

const sources = globSync("cli/src/**/*.ts", { exclude: ["**/*.test.ts"] }).map((file) => readFileSync(file, "utf8"));

test("every page that a message links exists, with its heading", () => {
  expect(PAGES).toMatch(/^https:\/\/github\.com\/[\w-]+\/[\w-]+\/blob\/main\/docs$/);
  const links = sources.flatMap((source) => [...source.matchAll(/\$\{PAGES\}\/([\w/-]+\.md)(?:#([\w-]+))?/g)]);
  expect(links.length).toBeGreaterThan(10);
  for (const [link, page, heading] of links) {
    const text = readFileSync(`docs/${page}`, "utf8");
    const slugger = new GithubSlugger();
    const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => slugger.slug(title));
    if (heading !== undefined) expect(headings, link).toContain(heading);
  }
});

test("no message names a page by its path in the repository, which users of the package do not have", () => {
  for (const source of sources)
    expect(source.replace(/^ *(\/\*\*|\*|\/\/).*$/gm, "")).not.toMatch(/["'`( ]docs\/[\w-]+\.md/);
});
