/** The page's demo, as Hosting serves it, in a real browser. */
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { ensureCounter, incrementCounter as incrementOnServer, counter as serverCounter } from "firestore-tally/admin";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { serveHelpRequests } from "../../demo/trafficHelper.ts";
import { admin, type Client, client } from "../../testkit/clients.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { HELP_REQUESTS, TICKETS, TRAFFIC } from "../../web/src/traffic/demoCounters.ts";
import { RATES } from "../../web/src/traffic/rates.ts";
import { browserForTests, type Tab } from "./chromium.ts";
import { hold, holdFirestore } from "./network.ts";
import { open, problemsOf, shiftsOf, total, visit } from "./page.ts";

const LIKES = "likes:page";
const SIGN_UPS = "**/accounts:signUp*";
const VIEWS = "views:page";

const browser = browserForTests();

// The rules of the tests do not let clients write its document, and the browser's console would tell of a refusal.
beforeAll(() => ensureCounter(serverCounter(admin, VIEWS)));

describe("the demo", () => {
  test("likes once, shown at once, with any number of clicks; a like survives a reload and can be taken back", async () => {
    const tab = await browser.visit("about:blank");
    // The view and the like each need a user: the same one.
    const signIn = await hold(tab.page, SIGN_UPS);
    let signUps = 0;
    tab.page.on("request", (request) => {
      if (request.url().includes("accounts:signUp")) signUps++;
    });
    await open(tab, "#/");
    await tab.page.waitForSelector("#likes[data-total]");
    const before = await total(tab, "likes");
    const release = await holdFirestore(tab.page);
    await tab.click("like");
    await isLiked(tab, true);
    await tab.click("like");
    release();
    await until(() => signUps > 0, "the visitor to be signed in");
    signIn();
    await until(async () => (await total(tab, "likes")) === before + 1, "the like to show");
    await until(async () => (await sumOfIncrements(LIKES)) === before + 1, "the like to arrive");
    expect((await admin.collection(`counters/${LIKES}/tallyEntries`).get()).size).toBe(before + 1);

    expect(signUps).toBe(1);

    await tab.page.reload();
    await isLiked(tab, true);
    await tab.click("like");
    await isLiked(tab, false);
    await until(async () => (await sumOfIncrements(LIKES)) === before, "the like to be taken back");
    await until(async () => (await total(tab, "likes")) === before, "the total without it");
    expect(problemsOf(tab)).toEqual([]);
  });

  test("counts each visit, and two tabs show the same numbers", async () => {
    const before = await sumOfIncrements(VIEWS);
    const left = await visit(browser, "#/");
    await until(async () => (await sumOfIncrements(VIEWS)) === before + 1, "one view more");
    const right = await visit(browser, "#/");
    await until(async () => (await sumOfIncrements(VIEWS)) === before + 2, "another");
    await left.click("add");
    await right.click("add");
    await right.click("add");
    await agree([left, right], "total", TRAFFIC);
    await agree([left, right], "views", VIEWS);
  });

  test("sends traffic at changing rates: shards follow, freshness and costs are shown, and the total is exact", async () => {
    const tab = await visit(browser, "#/");
    const before = await total(tab, "total");
    await setRate(tab, 7);
    await tab.click("traffic");
    await until(async () => (await total(tab, "total")) >= before + 5, "some increments");
    await setRate(tab, 140);
    await until(async () => Number(await tab.page.textContent("#shards")) > 1, "more shards");
    await until(async () => (await tab.page.textContent("#fresh"))?.endsWith(" s") === true, "a freshness");
    await until(async () => Number((await tab.page.textContent("#cost"))?.slice(1)) > 0, "a cost");
    expect(await shardLabel(tab)).toMatch(/^\d+ shards, \d+ written recently$/);
    await setRate(tab, 1);
    await tab.click("traffic");
    await until(async () => (await tab.page.textContent("#achieved"))?.startsWith("One browser") === true, "the end");
    await agree([tab], "total", TRAFFIC);
    const isInactive = async () => (await shardLabel(tab)) === "1 shard, 0 written recently";
    await until(isInactive, "the shards to be folded, and to become inactive", 45_000);
    expect(await shiftsOf(tab.page)).toEqual([]);
    expect(problemsOf(tab)).toEqual([]);
  });

  test("continues in the dashboard, and requests help for what one browser cannot send", async () => {
    const [watcher, ...clients] = Array.from({ length: 5 }, () => client()) as [Client, ...Client[]];
    const tab = await visit(browser, "#/");
    await setRate(tab, 500);
    await tab.click("traffic");
    await until(async () => (await readPublished(HELP_REQUESTS.counter))?.total !== undefined, "a request for help");
    await tab.page.click("text=Dashboard");
    await tab.page.waitForSelector("main.dashboard tbody tr[data-id]");
    await tab.page.goBack();
    await until(async () => (await tab.page.textContent("#traffic")) === "Stop", "the traffic that went on");
    await tab.click("traffic");
    await until(async () => (await tab.page.textContent("#achieved"))?.startsWith("One browser") === true, "the end");
    await sleep(500);
    const before = await agree([tab], "total", TRAFFIC);
    const asked = await sumOfIncrements(HELP_REQUESTS.counter);
    await until(
      async () => (await readPublished(HELP_REQUESTS.counter))?.total === asked,
      "all requests to be published",
    );

    const end = serveHelpRequests(watcher, clients);
    await sleep(1_000);
    await incrementCounter(counter(watcher.db, HELP_REQUESTS.counter));
    await until(async () => (await sumOfIncrements(TRAFFIC)) === before + HELP_REQUESTS.incrementsPerRequest, "help");
    await sleep(500);
    expect(await sumOfIncrements(TRAFFIC)).toBe(before + HELP_REQUESTS.incrementsPerRequest);
    end();
  });

  test("sells the last tickets to two tabs, each ticket once, and shows a restock", async () => {
    const sale = serverCounter(admin, TICKETS);
    await ensureCounter(sale, { initial: 15, bounded: true });
    const tabs = [await visit(browser, "#/"), await visit(browser, "#/")];
    for (const tab of tabs) await until(async () => (await total(tab, "tickets")) === 15, "the tickets");
    await Promise.all(tabs.map((tab) => tab.click("buy-many")));
    const [left, right] = await Promise.all(
      tabs.map(async (tab) => {
        await until(async () => /bought/.test(await textOf(tab, "ticket-state")), "the outcome");
        return Number(await textOf(tab, "own-tickets"));
      }),
    );
    expect((left as number) + (right as number)).toBe(15);
    expect((await admin.collection(`counters/${TICKETS}/tallyEntries`).get()).size).toBe(15);
    expect(await sumOfIncrements(TICKETS)).toBe(0);
    const states = await Promise.all(tabs.map((tab) => textOf(tab, "ticket-state")));
    expect(states.join(" ")).toContain("came too late: sold out");
    await incrementOnServer(sale, 7);
    for (const tab of tabs) await until(async () => (await total(tab, "tickets")) === 7, "the restock to show");
    // A refused take is an answer of 403, and a refused aggregation of 400, which Chromium logs.
    for (const tab of tabs) expect(problemsOf(tab).filter((problem) => !/40[03]/.test(problem))).toEqual([]);
  });

  test("watches nothing while the tab is hidden", async () => {
    const tab = await visit(browser, "#/");
    await until(() => tab.watches(`counters/${TRAFFIC}`) === 1, "one watch of the counter, for all who show it");
    await setVisibility(tab.page, "hidden");
    await until(() => [TRAFFIC, LIKES, VIEWS].every((id) => tab.watches(`counters/${id}`) === 0), "the watches to end");
    await setVisibility(tab.page, "visible");
    await until(() => tab.watches(`counters/${TRAFFIC}`) === 1, "the watch to come back");
  });
});

describe("a new visitor", () => {
  const fresh = browserForTests();

  test("sends increments that are made during a sign-in", async () => {
    const tab = await fresh.visit("about:blank");
    // The page signs the visitor in when it is opened, to count the visitor.
    const release = await hold(tab.page, `http://${process.env.FIREBASE_AUTH_EMULATOR_HOST}/**`);
    await open(tab, "#/");
    const before = await agree([tab], "total", TRAFFIC);
    const likes = await sumOfIncrements(LIKES);
    await tab.click("like");
    await sleep(300);
    await tab.click("add");
    await sleep(1_500);
    // The write waits: Firestore would queue it for the signed-out user.
    expect(await sumOfIncrements(TRAFFIC)).toBe(before);
    release();
    await until(async () => (await sumOfIncrements(TRAFFIC)) === before + 1, "it to arrive");
    await until(async () => (await total(tab, "total")) === before + 1, "it to show");
    await until(async () => (await sumOfIncrements(LIKES)) === likes + 1, "the like to arrive");
  });
});

async function isLiked({ page }: Tab, liked: boolean): Promise<void> {
  await page.waitForSelector(`#like[aria-pressed=${liked}]`);
}

async function textOf({ page }: Tab, id: string): Promise<string> {
  return (await page.textContent(`#${id}`)) ?? "";
}

async function setRate({ page }: Tab, perSecond: number): Promise<void> {
  await page.locator("#per-second").fill(String(RATES.indexOf(perSecond)));
}

/** The label of the shard cells. */
function shardLabel({ page }: Tab): Promise<string | null> {
  return page.getAttribute("canvas.shard-strip", "aria-label");
}

/**
 * Waits until the pages show the sum of the shards. Under load the emulator's watches miss a change now and then, which
 * production's do not; so what takes long gets another change.
 *
 * @returns the sum, with what was added here
 */
async function agree(tabs: readonly Tab[], element: string, id: string): Promise<number> {
  for (let retries = 5; ; retries--) {
    let sum = Number.NaN;
    let shown: number[] = [];
    const agreed = async () => {
      sum = await sumOfIncrements(id);
      shown = await Promise.all(tabs.map((tab) => total(tab, element)));
      return sum > 0 && shown.every((one) => one === sum);
    };
    try {
      await until(agreed, `#${element} to show the sum of ${id}`, 12_000);
      return sum;
    } catch (error) {
      if (retries === 0) throw new Error(`${(error as Error).message}, ${sum}: it shows ${shown}`);
      await admin
        .doc(`counters/${id}/shards/0`)
        .update({ count: FieldValue.increment(1), writes: FieldValue.increment(1) });
    }
  }
}

async function setVisibility(page: Page, visibilityState: "hidden" | "visible"): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, visibilityState);
}
