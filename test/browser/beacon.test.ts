/** The beacon in a real browser: a page that is closed loses nothing, and a page that is not secure counts, too. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";
import { type ServedFunction, serveFunction } from "../../testkit/functionServer.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests, type Tab } from "./chromium.ts";

const HOUR = 3_600_000;

let ingest: ServedFunction;
let totals: ServedFunction;
beforeAll(async () => {
  [ingest, totals] = await Promise.all([
    serveFunction("ingest", { INGEST_COUNTERS: "/scrolls:.*/", INGEST_ORIGINS: "*" }),
    serveFunction("totals", { TOTALS_COUNTERS: "scrolls:*" }),
  ]);
});
afterAll(() => Promise.all([ingest.kill(), totals.kill()]));

const browser = browserForTests();

test("a page that is closed sends what it has", async () => {
  const tab = await open("scrolls:closed", HOUR);
  await tab.clickAtOnce("increment", 30);
  await tab.page.close({ runBeforeUnload: true });
  await until(async () => (await counted("scrolls:closed")) === 30, "the counts");
});

test("navigator.sendBeacon counts, with a text and with JSON, which needs a preflight with credentials", async () => {
  const tab = await open("scrolls:native", HOUR);
  const sent = await tab.page.evaluate((url) => {
    const body = JSON.stringify({ events: [{ counter: "scrolls:native" }] });
    return [body, new Blob([body], { type: "application/json" })].map((data) => navigator.sendBeacon(url, data));
  }, ingest.url);
  expect(sent).toEqual([true, true]);
  await until(async () => (await counted("scrolls:native")) === 2, "both counts");
  expect(tab.problems).toEqual([]);
});

test("a page that is not secure counts, too", async () => {
  const { page } = await open("scrolls:insecure", 100);
  // Playwright answers for all hosts, so no rule of Chromium for local networks applies.
  await browser.context.route("**", async (route) => {
    const url = route.request().url().replace("insecure.test", "localhost");
    await route.fulfill({ response: await route.fetch({ url }) });
  });
  const tab = await browser.visit(page.url().replace("localhost", "insecure.test"));
  expect(await tab.page.evaluate(() => isSecureContext)).toBe(false);
  await tab.clickAtOnce("increment", 3);
  await until(async () => (await counted("scrolls:insecure")) === 3, "the counts");
  // Later polls reach no host.
  expect(tab.problems).toEqual([]);
  await browser.context.unroute("**");
});

async function open(id: string, flushInterval: number): Promise<Tab> {
  const parameters = { id, ingest: ingest.url, totals: totals.url, flushInterval: String(flushInterval) };
  const tab = await browser.open("beacon", parameters);
  await tab.page.waitForFunction(() => document.querySelector("#total")?.textContent !== "…");
  return tab;
}

async function counted(id: string): Promise<number> {
  const { docs } = await admin.collection(`counters/${id}/shards`).get();
  return docs.reduce((sum, shard) => sum + shard.get("count"), 0);
}
