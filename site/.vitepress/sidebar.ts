/**
 * The sidebar: pages in a chosen order, titled by their first heading unless a shorter title is given. A page of docs/ that no
 * section names is in a last section, so a new page is never missing. A page that is named but does not exist fails the build.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { DefaultTheme } from "vitepress";
import { ROOT } from "./repository.ts";

type Section = DefaultTheme.SidebarItem & { readonly items: DefaultTheme.SidebarItem[] };

const titleOf = (file: string) => /^# (.*)$/m.exec(readFileSync(`${ROOT}${file}.md`, "utf8"))?.[1] ?? file;
const page = (file: string, text = titleOf(file)) => ({ text, link: `/${file}` });
const recipes = (...names: string[]) => names.map((name) => page(`docs/guide/${name}`));

const guide: Section[] = [
  { text: "Count", items: recipes("views", "downloads", "offline", "static") },
  { text: "Once per user", items: recipes("likes", "votes", "reviews", "ratings", "scores", "visitors") },
  { text: "Limits and access", items: recipes("stock", "limits", "quota", "teams") },
  { text: "Lists and charts", items: recipes("lists", "comments", "leaderboards", "charts") },
  { text: "Servers", items: [page("docs/servers"), ...recipes("rest", "events", "bigquery")] },
  { text: "Corrections and tests", items: recipes("posts", "accounts", "repair", "testing") },
];

const start: Section = {
  text: "Start",
  items: [
    page("docs/setup", "Setup"),
    page("docs/guide", "Guide"),
    page("docs/dashboard", "Demo and dashboard"),
    page("docs/deployment", "First deployment"),
  ],
};

const reference: Section[] = [
  {
    text: "API",
    items: [
      page("docs/api", "Overview"),
      page("docs/reference/firestore-tally", "firestore-tally"),
      ...["react", "admin", "beacon", "testing"].map((part) =>
        page(`docs/reference/firestore-tally/${part}`, `…/${part}`),
      ),
      page("mobile/README", "Android, iOS, Flutter"),
      page("docs/compatibility"),
    ],
  },
  {
    text: "Reference",
    items: [
      ...["cli", "configuration", "security", "privacy", "costs", "events", "regions", "operations"].map((name) =>
        page(`docs/${name}`),
      ),
      page("docs/upgrade", "Upgrade"),
    ],
  },
  {
    text: "Coming from other counters",
    items: [page("docs/adopting", "Counters made by hand"), page("docs/migration", "Google's counter")],
  },
  {
    text: "How it works",
    items: [
      ...["architecture", "data-model", "performance", "reliability", "dependencies"].map((name) =>
        page(`docs/${name}`),
      ),
      page("docs/decisions/README", "Decisions"),
      page("CHANGELOG", "Changelog"),
      page("CONTRIBUTING", "Contributing"),
    ],
  },
];

/** The pages of a folder that no section names. */
function others(text: string, folder: string): Section[] {
  const named = new Set([start, ...guide, ...reference].flatMap(({ items }) => items.map(({ link }) => link)));
  const files = readdirSync(`${ROOT}${folder}`).filter((file) => file.endsWith(".md"));
  const items = files.map((file) => page(`${folder}/${file.slice(0, -3)}`)).filter(({ link }) => !named.has(link));
  return items.length > 0 ? [{ text, items }] : [];
}

export const sidebar: DefaultTheme.SidebarItem[] = [
  start,
  ...guide,
  ...others("More tasks", "docs/guide"),
  ...reference,
  ...others("More", "docs"),
];

export const nav = [
  page("docs/setup", "Setup"),
  page("docs/guide", "Guide"),
  page("docs/api", "API"),
  page("docs/costs", "Costs"),
];
