/** The page of docs/guide/static.md as it is printed, without a build: its addresses lead to files and functions of this machine. */
import { expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";
import { serveFunction } from "../../testkit/functionServer.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests } from "./chromium.ts";

const browser = browserForTests();

test("a static page counts its views with a copy of beacon.js, and shows all of them", async () => {
  const [ingest, totals] = await Promise.all([
    serveFunction("ingest", { INGEST_COUNTERS: "/views:[a-z0-9-]{1,40}/", INGEST_ORIGINS: "https://example.com" }),
    serveFunction("totals", { TOTALS_COUNTERS: "views:*" }),
  ]);
  const functions: Record<string, string> = { "/tally-ingest": ingest.url, "/tally-totals": totals.url };
  await browser.context.route("https://us-central1-my-project.cloudfunctions.net/**", async (route) => {
    const { pathname, search } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: `${functions[pathname]}${search}` }) });
  });
  const requested: string[] = [];
  await browser.context.route("https://example.com/**", async (route) => {
    const { pathname } = new URL(route.request().url());
    requested.push(pathname);
    const isPage = pathname === "/";
    await route.fulfill({ path: isPage ? "examples/static/index.html" : `client/dist${pathname}` });
  });

  await browser.visit("https://example.com/");
  const tab = await browser.visit("https://example.com/");
  await tab.shows("views", 2);
  await until(async () => {
    const { docs } = await admin.collection("counters/views:home/shards").get();
    return docs.reduce((sum, shard) => sum + shard.get("count"), 0) === 2;
  }, "both views");
  // One file: it imports no other.
  expect(new Set(requested)).toEqual(new Set(["/", "/beacon.js"]));
  expect(tab.problems).toEqual([]);
  await browser.context.unrouteAll();
  await Promise.all([ingest.kill(), totals.kill()]);
});
