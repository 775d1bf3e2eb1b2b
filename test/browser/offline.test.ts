/** A browser without a network, whose Firestore stores its writes on disk. */
import { counter, incrementCounter } from "firestore-tally";
import * as server from "firestore-tally/admin";
import { expect, test } from "vitest";
import { admin, client } from "../../testkit/clients.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests, type Tab } from "./chromium.ts";
import { cutFirestore } from "./network.ts";

const browser = browserForTests();

test("increments made offline show as pending, survive a reload, and count exactly once in the document when online again", async () => {
  const id = "offline:reload";
  const tab = await browser.open("button", { id, persistent: "" });
  await tab.shows("total", 0);
  await tab.click("increment");
  await tab.shows("succeeded", 1);
  await clicksOffline(tab, 2);
  await tab.shows("kept", 3);
  await tab.shows("total", 3);
  await tab.shows("pending", "true");
  await tab.shows("under-way", 2);

  const reconnect = await reloadsOffline(tab);
  await tab.shows("kept", 3);
  await tab.shows("total", 3);
  await tab.shows("from-cache", "true");
  await tab.shows("pending", "true");
  const other = client();
  await incrementCounter(counter(other.db, id));
  await other.close();
  expect(await sumOfIncrements(id)).toBe(2);

  await reconnect();
  await until(async () => (await readPublished(id))?.total === 4, "the increments to arrive");
  await tab.shows("total", 4);
  await tab.shows("from-cache", "false");
  expect(await readPublished(id)).toMatchObject({ direct: { generation: 0, count: 4, writes: 4 } });
  await tab.click("increment");
  await tab.shows("succeeded", 1);
  expect(await readPublished(id)).toMatchObject({ total: 5, direct: { generation: 1 } });
});

test("after a reload offline, the total lacks increments that wait on shards, and is pending until they count", async () => {
  // A group with windows, which has shards alone.
  const id = "views:offline";
  await server.incrementCounter(server.counter(admin, id), 7);
  const tab = await browser.open("button", { id, persistent: "" });
  await tab.shows("total", 7);
  await clicksOffline(tab, 3);
  await tab.shows("kept", 3);
  await tab.shows("total", 10);

  const reconnect = await reloadsOffline(tab);
  await tab.shows("kept", 3);
  await tab.shows("pending", "true");
  await tab.shows("total", 7);

  await reconnect();
  await tab.shows("total", 10);
  await tab.shows("pending", "false");
  expect(await sumOfIncrements(id)).toBe(10);
});

test("increments made offline survive the end of the browser: four in a new document, and one on a shard", async () => {
  const id = "offline:restart";
  const before = await browser.open("button", { id, persistent: "" });
  await before.shows("total", 0);
  await clicksOffline(before, 5);
  await before.shows("kept", 5);
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

/** Loads a page that is offline again: it is served, as by a service worker, but Firestore is still cut off. @returns ends that */
async function reloadsOffline(tab: Tab): Promise<() => Promise<void>> {
  const reconnect = await cutFirestore(tab.page);
  await browser.context.setOffline(false);
  await tab.page.reload();
  await browser.context.setOffline(true);
  return async () => {
    await reconnect();
    await browser.context.setOffline(false);
  };
}

/** Cuts the network of a page, and clicks. */
async function clicksOffline(tab: Tab, times: number): Promise<void> {
  await tab.shows("from-cache", "false");
  await browser.context.setOffline(true);
  for (let n = 0; n < times; n++) await tab.click("increment");
}
