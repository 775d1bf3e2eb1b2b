/** The page, as Hosting serves it, in a real browser. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { FieldValue, Timestamp } from "firebase-admin/firestore";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { addOperator, OPERATOR } from "../../demo/operator.ts";
import { admin } from "../support/app.ts";
import { published, sumOfShards, until } from "../support/suite.ts";
import { browserForTests, type Tab } from "./chromium.ts";
import { cutFirestore, holdFirestore } from "./network.ts";

const TRAFFIC = "demo:traffic";
const LIKES = "likes:page";
const VIEWS = "views:page";

const browser = browserForTests();

describe("the demo", () => {
  test("likes once, at once, whatever is clicked; after a reload it is still liked, and can be taken back", async () => {
    const tab = await visit("#/");
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
    const left = await visit("#/");
    await until(async () => (await sumOfShards(VIEWS)) === before + 1, "one view more");
    const right = await visit("#/");
    await until(async () => (await sumOfShards(VIEWS)) === before + 2, "another");
    await left.click("add");
    await right.click("add");
    await right.click("add");
    await agree([left, right], "total", TRAFFIC);
    await agree([left, right], "views", VIEWS);
  });

  test("shows what is added offline, says so, and sends it once when it is back", async () => {
    const tab = await visit("#/");
    const before = await agree([tab], "total", TRAFFIC);
    await browser.context.setOffline(true);
    await tab.page.waitForSelector(".notice:not([hidden])");
    for (let n = 0; n < 3; n++) await tab.click("add");
    await until(async () => (await total(tab, "total")) === before + 3, "the total with what was added offline");
    expect(await sumOfShards(TRAFFIC)).toBe(before);
    await browser.context.setOffline(false);
    await tab.page.waitForSelector(".notice", { state: "hidden" });
    await until(async () => (await published(TRAFFIC))?.total === before + 3, "the total to be published");
    expect(await sumOfShards(TRAFFIC)).toBe(before + 3);
    await until(async () => (await total(tab, "total")) === before + 3, "the same total");
  });

  test("sends traffic up and down: shards follow, figures come, and what was acknowledged is in the total", async () => {
    const tab = await visit("#/");
    const before = await total(tab, "total");
    await setSlider(tab, 30);
    await tab.click("traffic");
    await until(async () => (await total(tab, "total")) >= before + 5, "some increments");
    await setSlider(tab, 80);
    await until(async () => Number(await tab.page.textContent("#shards")) > 1, "more shards");
    await until(async () => (await tab.page.textContent("#fresh"))?.endsWith(" s") === true, "a freshness");
    await until(async () => Number((await tab.page.textContent("#cost"))?.slice(1)) > 0, "a cost");
    const label = await tab.page.getAttribute("canvas.heat", "aria-label");
    expect(label).toMatch(/^\d+ shards, \d+ written to lately$/);
    await setSlider(tab, 0);
    await tab.click("traffic");
    await until(async () => (await tab.page.textContent("#achieved"))?.startsWith("One browser") === true, "the end");
    await agree([tab], "total", TRAFFIC);
    expect((await shiftsOf(tab.page)).filter(({ value }) => value > 0.001)).toEqual([]);
    expect(problemsOf(tab)).toEqual([]);
  });

  test("watches nothing while nobody can see it", async () => {
    const tab = await visit("#/");
    await until(() => tab.watches(`counters/${TRAFFIC}`) === 1, "one watch of the counter, for all who show it");
    await see(tab.page, "hidden");
    await until(() => [TRAFFIC, LIKES, VIEWS].every((id) => tab.watches(`counters/${id}`) === 0), "the watches to end");
    await see(tab.page, "visible");
    await until(() => tab.watches(`counters/${TRAFFIC}`) === 1, "the watch to come back");
  });
});

describe("the dashboard", () => {
  /** Documents as the functions publish them; nobody writes to these counters. */
  const counters = Object.fromEntries(
    Array.from({ length: 25 }, (_, i) => [
      `fleet:${String.fromCharCode(97 + i)}`,
      { total: 7_000_000 + i * 1_003, rate: (i * 7) % 25, shardCount: 1 + i, writes: i, asOf: Timestamp.now() },
    ]),
  );
  const inOrderOf = (field: "total" | "rate") =>
    Object.entries(counters)
      .sort(([, a], [, b]) => b[field] - a[field])
      .map(([id]) => id);

  async function fill(): Promise<void> {
    const batch = admin.batch();
    for (const [id, counter] of Object.entries(counters))
      batch.set(admin.doc(`counters/${id}`), { ...counter, group: "fleet" });
    await batch.commit();
  }

  test("shows what the documents say, in the order asked for, page by page, and finds by group and by id", async () => {
    await fill();
    const tab = await visit("#/dashboard");
    await tab.page.fill("#search", "fleet:");
    await listed(tab, inOrderOf("total").slice(0, 20));
    for (const row of await tab.page.$$("tbody tr")) {
      const id = (await row.getAttribute("data-id")) as string;
      const [total, rate, shards] = await row.$$eval("td", (cells) =>
        cells.slice(0, 3).map((cell) => cell.textContent),
      );
      const document = counters[id] as (typeof counters)[string];
      expect(total).toBe(document.total.toLocaleString("en"));
      expect(Number(rate)).toBeCloseTo(document.rate, 1);
      expect(Number(shards)).toBe(document.shardCount);
    }
    await admin.doc("counters/fleet:a").update({ total: 9_999_999, asOf: Timestamp.now() });
    await listed(tab, ["fleet:a", ...inOrderOf("total").slice(0, 19)]);
    await admin.doc("counters/fleet:a").update({ total: counters["fleet:a"]?.total });

    await tab.page.check("input[value=rate]", { force: true });
    await listed(tab, inOrderOf("rate").slice(0, 20));
    await tab.page.getByText("Next").click();
    await listed(tab, inOrderOf("rate").slice(20));
    await tab.page.fill("#search", "fleet:c");
    await listed(tab, ["fleet:c"]);
    await tab.page.fill("#search", "no such counter");
    await tab.page.getByText("No counter for").waitFor();
    expect(Number(await tab.page.textContent("#reads"))).toBeLessThan(120);
    expect(problemsOf(tab)).toEqual([]);
  });

  test("shows one counter, its shards on demand, its past, and its corrections to an operator alone", async () => {
    const id = "fleet:one/of#%them".replace("/", " ");
    await admin.doc(`counters/${id}/shards/0`).set({ count: 41, writes: 41 });
    await until(async () => (await published(id))?.total === 41, "the total to be published");
    await admin
      .doc(`counters/${id}/corrections/x`)
      .set({ expected: 42, found: 41, by: 1, at: FieldValue.serverTimestamp() });
    await addOperator();
    const tab = await visit(`#/dashboard/${encodeURIComponent(id)}`);
    await until(async () => (await total(tab, "total")) === 41, "the total");
    await tab.click("look");
    await tab.page.getByText("1 reads so far").waitFor();
    await tab.page.check("input[name=range][value='An hour']", { force: true });
    await tab.page.getByText("points, between the first and the last").waitFor();

    await tab.page.getByText("For operators").waitFor();
    await tab.page.fill("input[name=email]", OPERATOR.email);
    await tab.page.fill("input[name=password]", "wrong");
    await tab.page.click("text=Sign in");
    await tab.page.getByText("not an account here").waitFor();
    await tab.page.fill("input[name=password]", OPERATOR.password);
    await tab.page.click("text=Sign in");
    const cells = tab.page.locator("#corrections tbody td");
    await cells.first().waitFor();
    expect(await cells.allTextContents()).toEqual(["42", "41", "+1"]);
  });
});

describe("every view", () => {
  const require = createRequire(import.meta.url);
  const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

  test("has nothing that axe finds fault with, in light, in dark and on a phone", async () => {
    const tab = await visit("#/");
    await tab.click("add");
    await until(async () => (await published(TRAFFIC)) !== undefined, "a counter to look at");
    for (const path of ["#/", "#/dashboard", "#/dashboard/demo%3Atraffic"]) {
      await tab.page.evaluate((hash) => {
        location.hash = hash;
      }, path);
      await tab.page.waitForSelector(path === "#/dashboard" ? "tbody tr[data-id]" : "[data-total]");
      for (const colorScheme of ["light", "dark"] as const) {
        await tab.page.emulateMedia({ colorScheme });
        for (const width of [1_280, 360]) {
          await tab.page.setViewportSize({ width, height: 800 });
          await tab.page.evaluate(axe);
          const faults = await tab.page.evaluate(async () => {
            const { violations } = await window.axe.run();
            return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
          });
          expect(faults, `${path}, ${colorScheme}, ${width} px`).toEqual([]);
          const tooWide = await tab.page.evaluate((width) => {
            const isTooWide = (one: Element) =>
              one.getBoundingClientRect().right > width + 0.5 && !one.closest(".unseen");
            return [...document.querySelectorAll("main *")].filter(isTooWide).map((one) => one.outerHTML.slice(0, 90));
          }, width);
          expect(tooWide, `${path}, ${width} px`).toEqual([]);
        }
      }
    }
  });

  test("says what is wrong where there is no Firestore, or no Hosting", async () => {
    const tab = await browser.visit("about:blank");
    const reconnect = await cutFirestore(tab.page);
    await tab.page.goto(`${address}#/dashboard`);
    await tab.page.getByText("Firestore does not answer").waitFor();
    await tab.page.goto(`${address}#/`);
    await tab.page.getByText("Firestore does not answer").waitFor();
    expect(await tab.page.isDisabled("#add")).toBe(true);
    await reconnect();
    await tab.page.waitForSelector("#total[data-total]");
    await tab.page.route("**/__/firebase/init.js*", (route) => route.abort());
    await tab.page.reload();
    await tab.page.getByText("Firebase Hosting did not say").waitFor();
  });

  test("of the first is drawn with less than 150 kB, compressed, Firestore included", async () => {
    const tab = await browser.visit("about:blank");
    const files: Promise<readonly [string, number]>[] = [];
    tab.page.on("response", (response) => {
      if (!response.url().startsWith(address)) return;
      files.push(
        response.body().then((body) => [new URL(response.url()).pathname, compressed(response.url(), body)] as const),
      );
    });
    await tab.page.goto(address);
    await tab.page.waitForSelector("#total[data-total]");
    const sizes = await Promise.all(files);
    const drawn = sizes.filter(([path]) => !path.includes("/session-"));
    const sum = drawn.reduce((bytes, [, size]) => bytes + size, 0);
    console.log(
      `first load: ${(sum / 1_000).toFixed(1)} kB\n${drawn.map(([path, size]) => `  ${path} ${size}`).join("\n")}`,
    );
    expect(sum).toBeGreaterThan(90_000);
    expect(sum).toBeLessThan(150_000);
  });

  test("can be used by the keyboard alone", async () => {
    const tab = await visit("#/");
    const before = await total(tab, "total");
    const focused = () => tab.page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent);
    const order: unknown[] = [];
    for (let n = 0; n < 8; n++) {
      await tab.page.keyboard.press("Tab");
      order.push(await focused());
    }
    expect(order).toEqual(["Skip to content", "Tally", "Demo", "Dashboard", "add", "traffic", "per-second", "like"]);
    for (let n = 0; n < 3; n++) await tab.page.keyboard.press("Shift+Tab");
    await tab.page.keyboard.press("Enter");
    await until(async () => (await total(tab, "total")) === before + 1, "one more");
  });
});

declare global {
  interface Window {
    axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
  }
}

const address = `http://${process.env.TALLY_HOSTING_HOST}/`;

/** Resolves when the view has its numbers. */
async function visit(hash: string): Promise<Tab> {
  const tab = await browser.visit(address + hash);
  await tab.page.waitForSelector(hash === "#/" ? "#total[data-total]" : "main[aria-busy=false]");
  return tab;
}

/** WebChannel asks an image of Google's whether there is a network, which the page's policy does not allow it. */
function problemsOf({ problems }: Tab): readonly string[] {
  return problems.filter((problem) => !problem.includes("cleardot.gif"));
}

/** What a total is that the page shows, or runs to. */
async function total({ page }: Tab, id: string): Promise<number> {
  return Number((await page.getAttribute(`#${id}`, "data-total")) ?? Number.NaN);
}

async function isLiked({ page }: Tab, liked: boolean): Promise<void> {
  await page.waitForSelector(`#like[aria-pressed=${liked}]`);
}

async function setSlider({ page }: Tab, step: number): Promise<void> {
  await page.locator("#per-second").fill(String(step));
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

async function listed({ page }: Tab, ids: readonly string[]): Promise<void> {
  let shown: (string | null)[] = [];
  await until(async () => {
    shown = await page.$$eval("tbody tr", (rows) => rows.map((row) => row.getAttribute("data-id")));
    return JSON.stringify(shown) === JSON.stringify(ids);
  }, `the list ${ids}`).catch((error) => {
    throw new Error(`${error.message}: it shows ${shown}`);
  });
}

async function see(page: Page, visibilityState: "hidden" | "visible"): Promise<void> {
  await page.evaluate((value) => {
    Object.defineProperty(document, "visibilityState", { value, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, visibilityState);
}

/** What has moved on the page that nobody had touched, and how far: https://web.dev/articles/cls */
function shiftsOf(page: Page): Promise<{ value: number; moved: string }[]> {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        type Shift = PerformanceEntry & { value: number; hadRecentInput: boolean; sources: { node?: Element }[] };
        new PerformanceObserver((list) => {
          const shifts = (list.getEntries() as Shift[]).filter(({ hadRecentInput }) => !hadRecentInput);
          resolve(
            shifts.map(({ value, sources }) => {
              return { value, moved: sources.map(({ node }) => node?.outerHTML?.slice(0, 90)).join(" ") };
            }),
          );
        }).observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve([]), 500);
      }),
  );
}

/** Fonts are compressed already. */
function compressed(url: string, body: Buffer): number {
  return url.endsWith(".woff2") ? body.length : gzipSync(body, { level: 9 }).length;
}
