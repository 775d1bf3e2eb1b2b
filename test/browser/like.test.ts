/** The like button of the examples in a real browser. */
import { expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests } from "./chromium.ts";

const browser = browserForTests();

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

test("the README's button signs its user in, and counts once however often it is clicked", async () => {
  const tab = await browser.open("startLike", {});
  const button = tab.page.locator("button");
  const shows = (text: string) => until(async () => (await button.textContent()) === text, text);
  await shows("♥ 0");
  await button.click();
  await shows("♥ 1");
  await button.click();
  await until(async () => (await sumOfIncrements("likes:start")) === 1, "the like");
  await shows("♥ 1");
  expect(tab.problems).toEqual([]);
});
