/** The page's demo, as Hosting serves it, in a real browser. */
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { helpOut } from "../../demo/help.ts";
import { admin, type Client, client } from "../../testkit/clients.ts";
import { readPublished, sumOfShards } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { HELP, TRAFFIC } from "../../web/src/traffic/counters.ts";
import { RATES } from "../../web/src/traffic/rates.ts";
import { browserForTests, type Tab } from "./chromium.ts";
import { hold, holdFirestore } from "./network.ts";
import { problemsOf, shiftsOf, total, visit } from "./page.ts";

const LIKES = "likes:page";
const VIEWS = "views:page";

const browser = browserForTests();

describe("the demo", () => {
  test("likes once, at once, whatever is clicked; after a reload it is still liked, and can be taken back", async () => {
    const tab = await visit(browser, "#/");
    await tab.page.waitForSelector("#likes[data-total]");
    const before = await total(tab, "likes");
    const release = await holdFirestore(tab.page);
    await tab.click("like");
    await isLiked(tab, true);
    await tab.click("like");
    release();
    await until(async () => (await total(tab, "likes")) === before + 1, "the like to show");
    await until(async () => (await sumOfShards(LIKES)) === before + 1, "the like to arrive");
    expect((await admin.collection(`counters/${LIKES}/entries`).get()).size).toBe(before + 1);

    await tab.page.reload();
    await isLiked(tab, true);
    await tab.click("like");
    await isLiked(tab, false);
    await until(async () => (await sumOfShards(LIKES)) === before, "the like to be taken back");
    await until(async () => (await total(tab, "likes")) === before, "the total without it");
    expect(problemsOf(tab)).toEqual([]);
  });

  test("counts each time it is opened, and two tabs agree on every number", async () => {
    const before = await sumOfShards(VIEWS);
    const left = await visit(browser, "#/");
    await until(async () => (await sumOfShards(VIEWS)) === before + 1, "one view more");
    const right = await visit(browser, "#/");
    await until(async () => (await sumOfShards(VIEWS)) === before + 2, "another");
    await left.click("add");
    await right.click("add");
    await right.click("add");
    await agree([left, right], "total", TRAFFIC);
    await agree([left, right], "views", VIEWS);
  });

  test("shows what is added offline, says so, and sends it once when it is back", async () => {
    const tab = await visit(browser, "#/");
    const before = await agree([tab], "total", TRAFFIC);
    await browser.context.setOffline(true);
    await tab.page.waitForSelector(".notice:not(:empty)");
    for (let n = 0; n < 3; n++) await tab.click("add");
    await tab.click("traffic");
    await tab.page.getByText("What sends the traffic could not be loaded").waitFor();
    await until(async () => (await total(tab, "total")) === before + 3, "the total with what was added offline");
    expect(await sumOfShards(TRAFFIC)).toBe(before);
    await browser.context.setOffline(false);
    await tab.page.waitForSelector(".notice:empty", { state: "attached" });
    await until(async () => (await readPublished(TRAFFIC))?.total === before + 3, "the total to be published");
    expect(await sumOfShards(TRAFFIC)).toBe(before + 3);
    await until(async () => (await total(tab, "total")) === before + 3, "the same total");
  });

  test("sends traffic up and down: shards follow, figures come, and what was acknowledged is in the total", async () => {
    const tab = await visit(browser, "#/");
    const before = await total(tab, "total");
    await setRate(tab, 7);
    await tab.click("traffic");
    await until(async () => (await total(tab, "total")) >= before + 5, "some increments");
    await setRate(tab, 140);
    await until(async () => Number(await tab.page.textContent("#shards")) > 1, "more shards");
    await until(async () => (await tab.page.textContent("#fresh"))?.endsWith(" s") === true, "a freshness");
    await until(async () => Number((await tab.page.textContent("#cost"))?.slice(1)) > 0, "a cost");
    expect(await picture(tab)).toMatch(/^\d+ shards, \d+ written to lately$/);
    await setRate(tab, 1);
    await tab.click("traffic");
    await until(async () => (await tab.page.textContent("#achieved"))?.startsWith("One browser") === true, "the end");
    await agree([tab], "total", TRAFFIC);
    const isCold = async () => (await picture(tab)) === "1 shard, 0 written to lately";
    await until(isCold, "the shards to be folded, and to cool", 45_000);
    expect(await shiftsOf(tab.page)).toEqual([]);
    expect(problemsOf(tab)).toEqual([]);
  });

  test("goes on beside the dashboard, and has others send what one browser cannot", async () => {
    const [watcher, ...clients] = Array.from({ length: 5 }, () => client()) as [Client, ...Client[]];
    const tab = await visit(browser, "#/");
    await setRate(tab, 500);
    await tab.click("traffic");
    await until(async () => (await readPublished(HELP.counter))?.total !== undefined, "a page to ask for help");
    await tab.page.click("text=Dashboard");
    await tab.page.waitForSelector("main.dashboard tbody tr[data-id]");
    await tab.page.goBack();
    await until(async () => (await tab.page.textContent("#traffic")) === "Stop", "the traffic that went on");
    await tab.click("traffic");
    await until(async () => (await tab.page.textContent("#achieved"))?.startsWith("One browser") === true, "the end");
    await sleep(500);
    const before = await agree([tab], "total", TRAFFIC);
    const asked = await sumOfShards(HELP.counter);
    await until(async () => (await readPublished(HELP.counter))?.total === asked, "all of it to be published");

    const end = helpOut(watcher, clients);
    await sleep(1_000);
    await incrementCounter(counter(watcher.db, HELP.counter));
    await until(async () => (await sumOfShards(TRAFFIC)) === before + HELP.each, "help");
    await sleep(500);
    expect(await sumOfShards(TRAFFIC)).toBe(before + HELP.each);
    end();
  });

  test("watches nothing while nobody can see it", async () => {
    const tab = await visit(browser, "#/");
    await until(() => tab.watches(`counters/${TRAFFIC}`) === 1, "one watch of the counter, for all who show it");
    await see(tab.page, "hidden");
    await until(() => [TRAFFIC, LIKES, VIEWS].every((id) => tab.watches(`counters/${id}`) === 0), "the watches to end");
    await see(tab.page, "visible");
    await until(() => tab.watches(`counters/${TRAFFIC}`) === 1, "the watch to come back");
  });
});

describe("a new visitor", () => {
  const fresh = browserForTests();

  test("adds what is added while somebody signs in", async () => {
    const tab = await visit(fresh, "#/");
    const before = await agree([tab], "total", TRAFFIC);
    const likes = await sumOfShards(LIKES);
    const release = await hold(tab.page, `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}/**`);
    await tab.click("like");
    await sleep(300);
    await tab.click("add");
    await sleep(1_500);
    // Firestore would keep it for the one who was nobody.
    expect(await sumOfShards(TRAFFIC)).toBe(before);
    release();
    await until(async () => (await sumOfShards(TRAFFIC)) === before + 1, "it to arrive");
    await until(async () => (await total(tab, "total")) === before + 1, "it to show");
    await until(async () => (await sumOfShards(LIKES)) === likes + 1, "the like to arrive");
  });
});

async function isLiked({ page }: Tab, liked: boolean): Promise<void> {
  await page.waitForSelector(`#like[aria-pressed=${liked}]`);
}

async function setRate({ page }: Tab, perSecond: number): Promise<void> {
  await page.locator("#per-second").fill(String(RATES.indexOf(perSecond)));
}

/** What the strip of shards says of itself. */
function picture({ page }: Tab): Promise<string | null> {
  return page.getAttribute("canvas.heat", "aria-label");
}

/**
 * Waits until the pages show the sum of the shards. Under load the emulator's watches miss a change now and then, which
 * production's do not; so what takes long gets another change.
 *
 * @returns the sum, with what was added here
 */
async function agree(tabs: readonly Tab[], element: string, id: string): Promise<number> {
  for (let patience = 5; ; patience--) {
    let sum = Number.NaN;
    let shown: number[] = [];
    const theyDo = async () => {
      sum = await sumOfShards(id);
      shown = await Promise.all(tabs.map((tab) => total(tab, element)));
      return sum > 0 && shown.every((one) => one === sum);
    };
    try {
      await until(theyDo, `#${element} to show the sum of ${id}`, 12_000);
      return sum;
    } catch (error) {
      if (patience === 0) throw new Error(`${(error as Error).message}, ${sum}: it shows ${shown}`);
      await admin
        .doc(`counters/${id}/shards/0`)
        .update({ count: FieldValue.increment(1), writes: FieldValue.increment(1) });
    }
  }
}

async function see(page: Page, visibilityState: "hidden" | "visible"): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, visibilityState);
}
