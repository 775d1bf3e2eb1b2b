/**
 * Pages and links of the site. A page is a Markdown file of the repository, as on GitHub. A link to any other file leads to
 * GitHub. The first page is `site/index.md`; it stands for README.md, which is not on the site.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import type { MarkdownOptions } from "vitepress";

export const REPOSITORY = "https://github.com/firestore-tally/firestore-tally";
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const FIRST_PAGE = "site/index.md";

/** Folders whose Markdown files are pages, beside those of the root. */
const FOLDERS = ["docs", "functions", "mobile", "site"];

const otherFolders = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !FOLDERS.includes(entry.name))
  .map(({ name }) => `${name}/**`);
export const NOT_ON_SITE = ["README.md", ...otherFolders];

const isPage = (path: string) =>
  path.endsWith(".md") && (FOLDERS.includes(path.split("/")[0] ?? "") || !path.includes("/"));

/** @param path  relative to the repository */
function addressOf(path: string, hash: string): string {
  if (path === "README.md") return `/${hash}`;
  if (isPage(path)) return `/${path}${hash}`;
  const isFolder = existsSync(`${ROOT}${path}`) && statSync(`${ROOT}${path}`).isDirectory();
  return `${REPOSITORY}/${isFolder ? "tree" : "blob"}/main/${path}${hash}`;
}

export const rewriteLinks: NonNullable<MarkdownOptions["config"]> = (md) => {
  md.core.ruler.push("links-of-the-repository", ({ tokens, env }) => {
    const folder = posix.dirname(env.relativePath === "index.md" ? FIRST_PAGE : env.relativePath);
    for (const token of tokens.flatMap((one) => [one, ...(one.children ?? [])])) {
      // Vue takes a path for a file if it begins with a dot.
      if (token.type.startsWith("html_")) token.content = token.content.replace(/(src(?:set)?=")(?=\w)/g, "$1./");
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (!href || /^([a-z]+:|#)/.test(href)) continue;
      const [, path = "", hash = ""] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
      token.attrSet("href", addressOf(posix.join(folder, path), hash));
    }
  });
};
