/** All views of the page in a real browser: size, failures, motion. */
import { gzipSync } from "node:zlib";
import { Timestamp } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { admin } from "../../testkit/clients.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests } from "./chromium.ts";
import { cutFirestore } from "./network.ts";
import { address, visit } from "./page.ts";

const browser = browserForTests();

describe("every view", () => {
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

  test("is first drawn with less than 168 kB, compressed, Firestore included", async () => {
    const tab = await browser.visit("about:blank");
    const files: Promise<readonly [string, number]>[] = [];
    tab.page.on("response", (response) => {
      if (!response.url().startsWith(address) || response.request().method() === "HEAD") return;
      files.push(
        response.body().then((body) => [new URL(response.url()).pathname, compressed(response.url(), body)] as const),
      );
    });
    await tab.page.goto(address);
    await tab.page.waitForSelector("#total[data-total]");
    // A file that is fetched before it is imported comes from the browser's cache then.
    const sizes = [...new Map(await Promise.all(files))];
    const drawn = sizes.filter(([path]) => !path.includes("/authSession-"));
    const sum = drawn.reduce((bytes, [, size]) => bytes + size, 0);
    console.log(
      `first load: ${(sum / 1_000).toFixed(1)} kB\n${drawn.map(([path, size]) => `  ${path} ${size}`).join("\n")}`,
    );
    expect(sum).toBeGreaterThan(90_000);
    expect(sum).toBeLessThan(168_000);
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
});

/** Fonts are compressed already. */
function compressed(url: string, body: Buffer): number {
  return url.endsWith(".woff2") ? body.length : gzipSync(body, { level: 9 }).length;
}
