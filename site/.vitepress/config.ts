/** The documents of the repository as a site. VitePress fails on a link to a missing page, `checkLinks.ts` on a missing heading. */
import { readFileSync } from "node:fs";
import { slug } from "github-slugger";
import { defineConfig } from "vitepress";
import { FIRST_PAGE, NOT_ON_SITE, REPOSITORY, ROOT, rewriteLinks } from "./repository.ts";
import { nav, sidebar } from "./sidebar.ts";

const icon = readFileSync(`${ROOT}web/public/icon.svg`, "utf8");
const inline = (svg: string) => `data:image/svg+xml,${encodeURIComponent(svg)}`;

export default defineConfig({
  title: "Tally",
  description: "The distributed counter for Firestore.",
  base: "/firestore-tally/",
  srcDir: "..",
  rewrites: { [FIRST_PAGE]: "index.md" },
  srcExclude: NOT_ON_SITE,
  transformPageData({ relativePath, frontmatter }) {
    if (relativePath !== "index.md") return;
    frontmatter.layout = "home";
    return { titleTemplate: false };
  },
  cleanUrls: true,
  lastUpdated: true,
  // The charts follow the system's scheme, and so does the site.
  appearance: "force-auto",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: inline(icon) }]],
  markdown: {
    config: rewriteLinks,
    languageAlias: { rules: "javascript" },
    // The same anchors as on GitHub.
    anchor: { slugify: slug },
    // Their colours have the contrast that WCAG AA demands.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  themeConfig: {
    // The colours of web/src/style.css.
    logo: { light: inline(icon), dark: inline(icon.replaceAll("#d4481a", "#ff7d4a")), alt: "" },
    search: { provider: "local" },
    nav,
    sidebar,
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/:path`, text: "Edit this page on GitHub" },
  },
});
