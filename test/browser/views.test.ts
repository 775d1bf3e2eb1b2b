/** All views of the page in a real browser: accessibility, size, failures, motion. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { Timestamp } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { TRAFFIC } from "../../web/src/traffic/demoCounters.ts";
import { browserForTests } from "./chromium.ts";
import { cutFirestore } from "./network.ts";
import { address, total, visit } from "./page.ts";

const browser = browserForTests();

describe("every view", () => {
  const require = createRequire(import.meta.url);
  const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

  test("passes axe and fits its width, in light, in dark and on a phone", async () => {
    const tab = await visit(browser, "#/");
    await tab.click("add");
    await until(async () => (await readPublished(TRAFFIC)) !== undefined, "a counter to look at");
    const largest = {
      total: Number.MAX_SAFE_INTEGER,
      rate: 99_999,
      shardCount: 10_000,
      writes: 1,
      asOf: Timestamp.now(),
    };
    await admin.doc("counters/an-id-that-is-longer-than-others-and-cannot-be-broken:0123456789").set(largest);
    for (const path of ["#/", "#/dashboard", "#/dashboard/demo%3Atraffic"]) {
      await tab.page.evaluate((hash) => {
        location.hash = hash;
      }, path);
      await tab.page.waitForSelector(path === "#/dashboard" ? "tbody tr[data-id]" : "#total[data-total]");
      for (const colorScheme of ["light", "dark"] as const) {
        await tab.page.emulateMedia({ colorScheme });
        for (const width of [1_280, 760, 360]) {
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

  test("says what is wrong without Firestore, and without Hosting", async () => {
    const tab = await browser.visit("about:blank");
    const reconnect = await cutFirestore(tab.page);
    await tab.page.goto(`${address}#/dashboard`);
    await tab.page.getByText("Firestore does not answer").waitFor();
    await tab.page.goto(`${address}#/`);
    await tab.page.getByText("Firestore does not answer").waitFor();
    expect(await tab.page.isDisabled("#add")).toBe(true);
    for (const id of ["likes", "views", "visitors"]) expect(await tab.page.textContent(`#${id}`)).toBe("–");
    await reconnect();
    await tab.page.waitForSelector("#total[data-total]");
    await tab.page.route("**/__/firebase/init.js*", (route) => route.abort());
    await tab.page.reload();
    await tab.page.getByText("has no Firebase configuration").waitFor();
  });

  test("is first drawn with less than 161 kB, compressed, Firestore included", async () => {
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
    const drawn = sizes.filter(([path]) => !path.includes("/authSession-"));
    const sum = drawn.reduce((bytes, [, size]) => bytes + size, 0);
    console.log(
      `first load: ${(sum / 1_000).toFixed(1)} kB\n${drawn.map(([path, size]) => `  ${path} ${size}`).join("\n")}`,
    );
    expect(sum).toBeGreaterThan(90_000);
    expect(sum).toBeLessThan(161_000);
  });

  test.each(["no-preference", "reduce"] as const)("respects the preference for motion: %s", async (reducedMotion) => {
    const id = `motion:${reducedMotion}`;
    // As the functions publish it; the counter has no writers.
    const publish = (total: number) =>
      admin.doc(`counters/${id}`).set({ total, rate: 0, shardCount: 1, writes: total, asOf: Timestamp.now() });
    await publish(1);
    const tab = await visit(browser, `#/dashboard/${id}`);
    await tab.page.waitForSelector("#total[data-total='1']");
    await tab.page.emulateMedia({ reducedMotion });
    const numbers = await tab.page.evaluateHandle(() => {
      const shown: string[] = [];
      const digits = document.querySelector("#total [aria-hidden]") as HTMLElement;
      new MutationObserver(() => shown.push(digits.textContent)).observe(digits, { childList: true });
      return shown;
    });
    await publish(1_001);
    await until(async () => (await numbers.jsonValue()).at(-1) === "1,001", "the number to get there");
    const between = (await numbers.jsonValue()).filter((shown) => shown !== "1" && shown !== "1,001");
    if (reducedMotion === "reduce") expect(between).toEqual([]);
    else expect(between.length).toBeGreaterThan(3);
    // Nothing else is animated.
    const moving = await tab.page.evaluate(() =>
      [...document.querySelectorAll("*")]
        .map((one) => getComputedStyle(one))
        .filter((style) => style.transitionDuration !== "0s" || style.animationName !== "none"),
    );
    expect(moving).toEqual([]);
  });

  test("can be used with the keyboard only", async () => {
    const tab = await visit(browser, "#/");
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

/** Fonts are compressed already. */
function compressed(url: string, body: Buffer): number {
  return url.endsWith(".woff2") ? body.length : gzipSync(body, { level: 9 }).length;
}
