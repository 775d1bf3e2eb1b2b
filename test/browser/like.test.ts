/** A like button in a real browser, with the uid of an anonymous user as `once`. */
import { expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests, type Tab } from "./chromium.ts";
import { readStory } from "./story.ts";

const browser = browserForTests();

test("like, unlike, like: after a reload the same user still likes, and counts once", async () => {
  const id = "likes:post1";
  const tab = await browser.open("like", { id });
  await tab.shows("liked-before", "false");
  await tab.shows("total", 0);
  await tab.shows("liked", "false");
  for (const [n, action, liked, total] of [
    [1, "like", true, 1],
    [2, "unlike", false, 0],
    [3, "like", true, 1],
  ] as const) {
    await tab.click(action);
    await tab.shows("liked", `${liked}`);
    await tab.shows("total", total);
    await tab.shows("succeeded", n);
  }
  await settled(id, 1);
  const uid = await tab.page.textContent("#uid");
  expect(await entries(id)).toEqual([uid]);

  await tab.page.reload();
  await tab.shows("uid", uid as string);
  await tab.shows("liked-before", "true");
  await tab.shows("liked", "true");
  await tab.shows("total", 1);
  await tab.click("unlike");
  await tab.shows("succeeded", 1);
  await tab.shows("liked", "false");
  await settled(id, 0);
  await tab.shows("total", 0);
  expect(await entries(id)).toEqual([]);
  expect(tab.problems).toEqual([]);
});

test("a double click on like counts once, and the total never shows 2", async () => {
  const id = "likes:post2";
  const tab = await browser.open("like", { id });
  await tab.shows("total", 0);
  await doubleClick(tab, "like");
  await tab.shows("succeeded", 2);
  await tab.shows("error", "");
  await settled(id, 1);
  expect(await entries(id)).toHaveLength(1);
  await tab.shows("liked", "true");
  await tab.shows("total", 1);
  expect(Math.max(...(await totals(tab)))).toBe(1);
});

test("a double click on unlike undoes one like, and the total never shows less than 0", async () => {
  const id = "likes:post3";
  const tab = await browser.open("like", { id });
  await tab.shows("total", 0);
  await tab.click("like");
  await tab.shows("succeeded", 1);
  await settled(id, 1);
  await doubleClick(tab, "unlike");
  await tab.shows("succeeded", 3);
  await tab.shows("error", "");
  await settled(id, 0);
  expect(await entries(id)).toEqual([]);
  await tab.shows("liked", "false");
  await tab.shows("total", 0);
  expect(Math.min(...(await totals(tab)))).toBe(0);
});

/** Clicks a second time before the first click has any effect. */
const doubleClick = (tab: Tab, id: string) => tab.clickAtOnce(id, 2);

async function totals(tab: Tab): Promise<number[]> {
  return (await readStory(tab)).map((event) => ("shown" in event ? event.shown : 0));
}

async function entries(id: string): Promise<string[]> {
  return (await admin.collection(`counters/${id}/tallyEntries`).get()).docs.map((entry) => entry.id);
}

async function settled(id: string, total: number): Promise<void> {
  expect(await sumOfIncrements(id)).toBe(total);
  await until(async () => (await readPublished(id))?.total === total, `the total ${total} to be published`);
}

test("the React button of the examples can be clicked again after a failure", async () => {
  const tab = await browser.open("likeButton", { post: "react" });
  const button = tab.page.locator("button");
  const alert = tab.page.locator("[role=alert]");
  await until(() => button.isEnabled(), "the button");
  const like = admin.doc("counters/likes:react/shards/0");
  // A shard at its bound accepts no more.
  await like.set({ shard: "0", count: Number.MAX_SAFE_INTEGER, writes: 1 });
  await button.click();
  await alert.waitFor();
  expect(await button.textContent()).toMatch(/^♡/);
  await like.delete();
  await button.click();
  await until(async () => (await sumOfIncrements("likes:react")) === 1, "the like");
  await until(async () => (await button.textContent())?.startsWith("♥") === true, "the pressed button");
  expect(await alert.count()).toBe(0);
});
