/** The like buttons of the examples and of the page in a real browser. */
import { setTimeout as sleep } from "node:timers/promises";
import { Timestamp } from "firebase-admin/firestore";
import { expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests } from "./chromium.ts";
import { hold, holdWatches } from "./network.ts";
import { open } from "./page.ts";

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

test("the page's button stays pressed after the like is acknowledged, however late its watch answers", async () => {
  // An increment of a growing counter is a transaction, whose outcome the SDK does not show before the watch does.
  const likes = admin.doc("counters/likes:page");
  await likes.set({ total: 0, shardCount: 4, growing: true, asOf: Timestamp.now() });
  // Other tests have left likes in its shards.
  const before = await sumOfIncrements("likes:page");
  await likes.update({ total: before });
  const tab = await browser.visit("about:blank");
  // The visitor is signed in by the like, so the watch of the like starts after it.
  const signIn = await hold(tab.page, "**/accounts:signUp*");
  await open(tab, "#/");
  await tab.page.waitForSelector("#likes[data-total]");
  const button = tab.page.locator("#like");
  const states = await button.evaluateHandle((button) => {
    const states: (string | null)[] = [];
    new MutationObserver(() => states.push(button.getAttribute("aria-pressed"))).observe(button, { attributes: true });
    return states;
  });
  const answer = await holdWatches(tab.page, "/tallyEntries/");
  await button.click();
  const acknowledged = tab.page.waitForResponse((response) => response.url().includes("documents:commit"));
  signIn();
  await acknowledged;
  await until(async () => (await sumOfIncrements("likes:page")) === before + 1, "the like");
  // The page says so when it has the acknowledgement, which nothing else shows.
  await sleep(500);
  answer();
  await tab.page.waitForSelector(`#likes[data-total='${before + 1}']`);
  await tab.page.getByText("Yours counts once").waitFor();
  expect(await states.jsonValue()).toEqual(["true"]);
  await button.click();
  await until(async () => (await sumOfIncrements("likes:page")) === before, "the like to be taken back");
  await tab.page.waitForSelector("#like[aria-pressed=false]");
});
