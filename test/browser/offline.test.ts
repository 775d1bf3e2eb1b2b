/** A browser without a network, whose Firestore stores its writes on disk. */
import { expect, test } from "vitest";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests, type Tab } from "./chromium.ts";
import { cutFirestore } from "./network.ts";

const browser = browserForTests();

test("increments made offline show as pending, survive a reload, and count exactly once when online again", async () => {
  const id = "offline:reload";
  const tab = await clicksOffline(id, 5);
  await tab.shows("total", 5);
  await tab.shows("pending", "true");
  await tab.shows("under-way", 5);
  await tab.shows("succeeded", 0);

  // The page is served, as by a service worker, but Firestore is still cut off.
  const reconnect = await cutFirestore(tab.page);
  await browser.context.setOffline(false);
  await tab.page.reload();
  await browser.context.setOffline(true);
  await tab.shows("kept", 5);
  await tab.shows("from-cache", "true");
  expect(await sumOfIncrements(id)).toBe(0);

  await reconnect();
  await browser.context.setOffline(false);
  await until(async () => (await sumOfIncrements(id)) === 5, "the increments to arrive");
  await until(async () => (await readPublished(id))?.total === 5, "the total to be published");
  await tab.shows("total", 5);
  await tab.shows("from-cache", "false");
  await tab.click("increment");
  await tab.shows("succeeded", 1);
  expect(await sumOfIncrements(id)).toBe(6);
});

test("increments made offline survive the end of the browser", async () => {
  const id = "offline:restart";
  await clicksOffline(id, 5);
  await browser.restart();
  expect(await sumOfIncrements(id)).toBe(0);

  const tab = await browser.open("button", { id, persistent: "" });
  await until(async () => (await sumOfIncrements(id)) === 5, "the increments to arrive");
  await until(async () => (await readPublished(id))?.total === 5, "the total to be published");
  await tab.shows("total", 5);
  await tab.click("increment");
  await tab.shows("succeeded", 1);
  expect(await sumOfIncrements(id)).toBe(6);
});

/** Loads a page, cuts its network, and clicks. Resolves when all writes are on disk. */
async function clicksOffline(id: string, times: number): Promise<Tab> {
  const tab = await browser.open("button", { id, persistent: "" });
  await tab.shows("total", 0);
  await tab.shows("from-cache", "false");
  await browser.context.setOffline(true);
  for (let n = 0; n < times; n++) await tab.click("increment");
  await tab.shows("kept", times);
  return tab;
}
