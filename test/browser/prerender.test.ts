/**
 * Pages that Chromium prerenders. While Playwright is connected it prerenders none, so the browser runs by itself, and the pages tell
 * a server of the test what they see.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CHROMIUM_ARGUMENTS, FETCH_TIMEOUT_MS, findChromium } from "../../testkit/chromium.ts";
import { type Site, startSite } from "../../testkit/site.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

interface Told {
  readonly id: string;
  readonly [what: string]: unknown;
}

let site: Site;
let server: Server;
let control: string;
/** What the pages have told, and the batches that have come to the function `ingest`. */
const told: Told[] = [];
const batches: { events: unknown[] }[] = [];
let opener: ServerResponse | undefined;

beforeAll(async () => {
  await findChromium();
  site = await startSite(new URL("./pages/", import.meta.url));
  server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "", control);
    response.setHeader("access-control-allow-origin", "*");
    if (pathname === "/next") {
      opener = response;
      return;
    }
    const body = await text(request);
    if (pathname === "/told") told.push(JSON.parse(body));
    if (pathname === "/ingest") batches.push(JSON.parse(body));
    response.end(JSON.stringify({ at: 1, totals: { "views:shown": null } }));
  });
  await once(server.listen(0, "localhost"), "listening");
  control = `http://localhost:${(server.address() as AddressInfo).port}`;
}, FETCH_TIMEOUT_MS);
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await site.close();
});

test("the beacon of a page that prerenders sends and stores nothing until the page is shown; unless it is shown, never", async () => {
  const ids = ["views:shown", "views:unseen"];
  const [shown = "", unseen = ""] = await Promise.all(ids.map((id) => site.address("prerendered", { id, control })));
  await prerendering([shown, unseen], async (show) => {
    await until(() => told.length === 2, "both pages to prerender");
    expect(told.toSorted((a, b) => a.id.localeCompare(b.id))).toEqual(ids.map((id) => ({ id, isPrerendering: true })));
    expect(batches).toEqual([]);
    show(shown);
    await until(() => told.some(({ flushed }) => flushed === true), "the flush");
    await until(() => told.some(({ total }) => total === 1), "the total");
  });
  expect(batches.map(({ events }) => events)).toEqual([[{ counter: "views:shown", by: 1 }]]);
  expect(new Set(told.slice(2).map(({ id }) => id))).toEqual(new Set(["views:shown"]));
});

test.each(["example", "react", "browser"])(
  "a view that is counted by the code we show counts once, when the page is shown, also in StrictMode: %s",
  async (code) => {
    const [page, probe] = [`prerendered-${code}`, `probe:${code}`];
    const url = await site.address("prerenderedViews", { code, page, probe });
    await prerendering([url], async (show) => {
      await until(async () => (await sumOfIncrements(probe)) === 1, "the page to prerender");
      expect(await sumOfIncrements(`views:${page}`)).toBe(0);
      show(url);
      await until(async () => (await sumOfIncrements(probe)) === 2, "the page to be shown");
      await until(async () => (await sumOfIncrements(`views:${page}`)) > 0, "the view");
    });
    expect(await sumOfIncrements(`views:${page}`)).toBe(1);
  },
);

/** Runs a browser whose first page prerenders these. @param use  is given a function that shows one */
async function prerendering(urls: string[], use: (show: (url: string) => void) => Promise<void>): Promise<void> {
  const { executablePath = chromium.executablePath(), env = process.env } = await findChromium();
  const profile = mkdtempSync(join(tmpdir(), "tally-prerender-"));
  const first = await site.address("opener", { control, prerender: JSON.stringify(urls) });
  const browser = spawn(executablePath, [...CHROMIUM_ARGUMENTS, `--user-data-dir=${profile}`, first], {
    env: env as NodeJS.ProcessEnv,
    stdio: "ignore",
  });
  try {
    await use((url) => opener?.end(url));
  } finally {
    browser.kill();
    await once(browser, "exit");
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
