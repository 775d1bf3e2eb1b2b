/** Follows every link of the built site that leads to its own pages, pictures and headings. Fails if one is broken. */
import { fileURLToPath } from "node:url";
import getPort from "get-port";
import { check } from "linkinator";
import { serve } from "vitepress";

const port = await getPort();
const site = `http://localhost:${port}/firestore-tally/`;
await serve({ root: fileURLToPath(new URL(".", import.meta.url)), port });

const { links } = await check({
  path: site,
  recurse: true,
  checkFragments: true,
  linksToSkip: async (link) => !link.startsWith(site),
});
const broken = links.filter(({ state }) => state === "BROKEN");
for (const { parent, url } of broken) console.error(`${parent?.replace(site, "/")} links to ${url.replace(site, "/")}`);
const followed = links.filter(({ state }) => state === "OK").length;
console.log(`${followed} links followed, ${broken.length} broken`);
process.exit(broken.length > 0 || followed < 50 ? 1 : 0);
