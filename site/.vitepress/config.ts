/**
 * The documents of the repository as a site: the same files as on GitHub. Links to files that are no page of the site lead to GitHub.
 * VitePress fails on a link to a page that does not exist.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { type DefaultTheme, defineConfig, type MarkdownOptions } from "vitepress";

const REPOSITORY = "https://github.com/firestore-tally/firestore-tally";
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Whose Markdown files are pages of the site, beside those of the root. */
const FOLDERS = ["docs", "functions", "mobile"];

const otherFolders = readdirSync(ROOT, { withFileTypes: true }).filter(
  (entry) => entry.isDirectory() && !FOLDERS.includes(entry.name),
);
const isPage = (path: string) =>
  path.endsWith(".md") && (FOLDERS.includes(path.split("/")[0] ?? "") || !path.includes("/"));

/** @param path  relative to the repository; a link of a page that is on the site leads to itself */
function onSite(path: string, hash: string): string {
  if (path === "README.md") return `/${hash}`;
  if (isPage(path)) return `/${path}${hash}`;
  const isFolder = existsSync(`${ROOT}${path}`) && statSync(`${ROOT}${path}`).isDirectory();
  return `${REPOSITORY}/${isFolder ? "tree" : "blob"}/main/${path}${hash}`;
}

const rewriteLinks: NonNullable<MarkdownOptions["config"]> = (md) => {
  md.core.ruler.push("links-of-the-repository", ({ tokens, env }) => {
    const folder = posix.dirname(env.relativePath === "index.md" ? "README.md" : env.relativePath);
    for (const token of tokens.flatMap((one) => [one, ...(one.children ?? [])])) {
      // Vue takes a path for a file if it begins with a dot.
      if (token.type.startsWith("html_")) token.content = token.content.replace(/(src(?:set)?=")(?=\w)/g, "$1./");
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (!href || /^([a-z]+:|#)/.test(href)) continue;
      const [, path = "", hash = ""] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
      token.attrSet("href", onSite(posix.join(folder, path), hash));
    }
  });
};

const page = (text: string, file: string) => ({ text, link: `/${file}` });

const sidebar: DefaultTheme.SidebarItem[] = [
  {
    text: "Start",
    items: [
      page("Tally", ""),
      page("Setup", "docs/setup"),
      page("Guide", "docs/guide"),
      page("Demonstration", "docs/dashboard"),
      page("First deployment", "docs/deployment"),
    ],
  },
  {
    text: "Coming from other counters",
    items: [page("Counters made by hand", "docs/adopting"), page("Google's extension", "docs/migration")],
  },
  {
    text: "API",
    items: [
      page("Overview", "docs/api"),
      page("firestore-tally", "docs/reference/firestore-tally"),
      ...["react", "admin", "beacon", "testing"].map((part) =>
        page(`…/${part}`, `docs/reference/firestore-tally/${part}`),
      ),
      page("Android, iOS, Flutter", "mobile/README"),
      page("Compatibility", "docs/compatibility"),
    ],
  },
  {
    text: "Reference",
    items: [
      page("On a server", "docs/servers"),
      page("Command line", "docs/cli"),
      page("Configuration", "docs/configuration"),
      page("Security", "docs/security"),
      page("Costs", "docs/costs"),
      page("Events", "docs/events"),
      page("Regions", "docs/regions"),
      page("Operations", "docs/operations"),
      page("Upgrade", "docs/upgrade"),
    ],
  },
  {
    text: "How it works",
    items: [
      page("Architecture", "docs/architecture"),
      page("Data model", "docs/data-model"),
      page("Performance", "docs/performance"),
      page("Reliability", "docs/reliability"),
      page("Decisions", "docs/decisions/README"),
      page("Dependencies", "docs/dependencies"),
      page("Changelog", "CHANGELOG"),
      page("Contributing", "CONTRIBUTING"),
    ],
  },
];

export default defineConfig({
  title: "Tally",
  description: "The distributed counter for Firestore.",
  base: "/firestore-tally/",
  srcDir: "..",
  rewrites: { "README.md": "index.md" },
  srcExclude: otherFolders.map(({ name }) => `${name}/**`),
  cleanUrls: true,
  lastUpdated: true,
  // The charts follow the system's scheme, and so does the site.
  appearance: "force-auto",
  markdown: { config: rewriteLinks, languageAlias: { rules: "javascript" } },
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    search: { provider: "local" },
    nav: [page("Guide", "docs/guide"), page("API", "docs/api"), page("Costs", "docs/costs")],
    sidebar,
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: "Edit this page on GitHub" },
  },
});
