/**
 * The page for everyone: axe, forced colours, contrast, the narrowest window, the largest numbers and the longest ids, and the
 * keyboard. Views and controls are found by their roles, so that a new control is tested without being named here.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { loadRules, OPEN_RULES, withPolicy } from "../../testkit/rules.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests } from "./chromium.ts";
import { drawnContrast, styledContrasts } from "./contrast.ts";
import { addExtremes, LONGEST_ID, removeExtremes } from "./extremes.ts";
import { address, total } from "./page.ts";

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const COUNTERS = {
  counter: `#/dashboard/${encodeURIComponent(LONGEST_ID)}`,
  "another counter": "#/dashboard/large%3Anegative",
};

const VIEWS = {
  demo: "#/",
  dashboard: "#/dashboard",
  ...COUNTERS,
  "unknown counter": "#/dashboard/none%3Asuch",
  "unknown address": "#/nowhere",
  "no counters": "#/dashboard?find=none%3Asuch",
};

const browser = browserForTests();

beforeAll(addExtremes);
afterAll(removeExtremes);

describe("every view", () => {
  test("passes axe, in light and dark, and fits windows of 1280 to 320 px", { timeout: 90_000 }, async () => {
    const tab = await browser.visit(address);
    for (const [name, hash] of Object.entries(VIEWS)) await check(tab.page, name, hash);
    const project = process.env.GCLOUD_PROJECT as string;
    await loadRules(project, withPolicy(OPEN_RULES, "function mayReadCounter() {\n        return false;\n      }"));
    onTestFinished(() => loadRules(project, OPEN_RULES));
    for (const [name, hash] of Object.entries({ dashboard: VIEWS.dashboard, ...COUNTERS })) {
      await check(tab.page, `${name}, denied`, hash);
      expect(await tab.page.getByText("for operators only").count()).toBeGreaterThan(0);
    }
  });

  test("shows numbers on one line, apart from ids, which are clamped", async () => {
    const tab = await browser.visit("about:blank");
    for (const hash of [VIEWS.demo, VIEWS.dashboard, ...Object.values(COUNTERS)]) {
      await show(tab.page, hash);
      for (const width of [1_280, 961, 768, 390, 320]) {
        await tab.page.setViewportSize({ width, height: 800 });
        expect(await tab.page.evaluate(misplaced), `${hash.slice(0, 30)}, ${width} px`).toEqual([]);
      }
    }
  });
});

test("the page is drawn in forced colours, with the user's own", async () => {
  const { page } = await browser.visit("about:blank");
  await show(page, VIEWS.demo);
  const like = page.getByRole("button", { name: "Like" });
  await like.click();
  await page.mouse.move(0, 0);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, forcedColors: "active" });
    await show(page, VIEWS.demo);
    await until(async () => (await like.getAttribute("aria-pressed")) === "true", "the like");
    const slider = page.getByRole("slider");
    await slider.press("Home");
    for (let n = 0; n < 15; n++) await slider.press("ArrowRight");
    for (const [name, locator, places] of [
      ["number", page.locator("#total .digits"), [0.5]],
      ["shards", page.getByRole("img").first(), [0.05]],
      ["slider, filled and not", slider, [0.05, 0.95]],
      ["current view", page.getByRole("link", { name: "Demo" }), [0.5]],
      ["pressed button", like, [0.5]],
    ] as const) {
      for (const place of places)
        expect(await drawnContrast(locator, place), `${name}, ${colorScheme}`).toBeGreaterThan(3);
    }
    expect(await underlined(page), "links of other views").toEqual(["Demo"]);
  }
});

test("the page has enough contrast in every state of its buttons: at rest, hovered, pressed, disabled", async () => {
  const { page } = await browser.visit("about:blank");
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const hash of [VIEWS.demo, VIEWS.dashboard, COUNTERS.counter]) {
      await show(page, hash);
      for (const button of await page.locator("main button:visible, .choice label:visible").all()) {
        for (const state of ["rest", "hovered", "pressed"] as const) {
          const name = `${await button.textContent()}, ${state}, ${colorScheme}`;
          if (state === "hovered") await button.hover({ force: true });
          if (state === "pressed") await page.mouse.down();
          const { text, border } = await styledContrasts(button);
          expect(text, name).toBeGreaterThanOrEqual(4.5);
          if (border !== undefined) expect(border, name).toBeGreaterThanOrEqual(3);
        }
        await page.mouse.move(0, 0);
        await page.mouse.up();
      }
    }
  }
});

describe("the keyboard", () => {
  test("reaches every control of every view in the order of the page, and the focus is visible", async () => {
    const { page } = await browser.visit("about:blank");
    for (const hash of Object.values(VIEWS)) {
      await page.goto("about:blank");
      await show(page, hash);
      const { all } = await page.evaluate(controlsOf);
      expect(all.length).toBeGreaterThan(4);
      const reached: string[] = [];
      for (const _ of all) {
        await page.keyboard.press("Tab");
        const { focused, isSeen, isPill } = await page.evaluate(controlsOf);
        reached.push(focused);
        expect(isSeen, `${hash.slice(0, 30)}: the focus of ${focused}`).toBe(true);
        if (focused === "button Add one") expect(isPill).toBe(true);
      }
      expect(reached, hash.slice(0, 30)).toEqual(all);
    }
  });

  test("skips to the content, and uses each kind of control", async () => {
    const tab = await browser.visit("about:blank");
    const { page } = tab;
    const press = (key: string) => page.keyboard.press(key);
    await show(page, VIEWS.demo);
    await press("Tab");
    await press("Enter");
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("MAIN");
    await press("Tab");
    expect((await page.evaluate(controlsOf)).focused).toBe("button Add one");
    const before = await total(tab, "total");
    await press("Enter");
    await until(async () => (await total(tab, "total")) === before + 1, "one more");
    await page.getByRole("slider").focus();
    const rate = await page.getByRole("slider").getAttribute("aria-valuetext");
    await press("ArrowRight");
    expect(await page.getByRole("slider").getAttribute("aria-valuetext")).not.toBe(rate);
    const like = page.getByRole("button", { name: "Like" });
    const isLiked = await like.getAttribute("aria-pressed");
    await like.focus();
    await press("Space");
    await until(async () => (await like.getAttribute("aria-pressed")) !== isLiked, "the like");

    await page.getByRole("link", { name: "Dashboard" }).focus();
    await press("Enter");
    await page.getByRole("radio", { name: "Top" }).focus();
    await press("ArrowRight");
    expect(await page.getByRole("radio", { name: "Trending" }).isChecked()).toBe(true);
    await page.getByRole("link", { name: LONGEST_ID }).focus();
    await press("Enter");
    await page.getByRole("heading", { name: LONGEST_ID }).waitFor();
    const signIn = page.locator("#corrections").getByRole("button", { name: "Sign in" });
    await signIn.focus();
    await press("Enter");
    await page.getByRole("dialog").getByLabel("Email").waitFor();
    await press("Escape");
    await until(() => signIn.evaluate((button) => button === document.activeElement), "the focus to return");
  });
});

/** Opens a view, and waits for its numbers. */
async function show(page: Page, hash: string): Promise<void> {
  await page.goto(address + hash);
  await page.waitForSelector("main[aria-busy=false]");
  await page.waitForSelector("main :is([data-total], .state)");
  await page.waitForLoadState("networkidle", { timeout: 700 }).catch(() => {});
}

async function check(page: Page, name: string, hash: string): Promise<void> {
  await page.goto("about:blank");
  await show(page, hash);
  for (const [colorScheme, width] of [
    ["light", 1_280],
    ["dark", 390],
    ["light", 320],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    const place = `${name}, ${colorScheme}, ${width} px`;
    if (width !== 320) {
      await page.evaluate(axe);
      const faults = await page.evaluate(async () => {
        const { violations } = await window.axe.run();
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(" ")}`);
      });
      expect(faults, place).toEqual([]);
    }
    let wide: string[] = [];
    // The chart follows the window a frame later.
    const fits = async () => {
      wide = await page.evaluate(tooWide);
      return wide.length === 0;
    };
    await until(fits, "it to fit", 2_000).catch(() => expect(wide, place).toEqual([]));
  }
}

// Functions that run in the page.

function tooWide(): string[] {
  const { clientWidth } = document.documentElement;
  return [...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > clientWidth + 0.5 && !one.closest(".unseen, .skip"))
    .map((one) => one.outerHTML.slice(0, 90));
}

/** Numbers that are broken, or cover an id, and ids of more than three lines. */
function misplaced(): string[] {
  const faults: string[] = [];
  const rects = (element: Element) => {
    const range = document.createRange();
    range.selectNodeContents(element.querySelector(".digits") ?? element);
    return [...range.getClientRects()].filter(({ width }) => width > 0);
  };
  for (const one of document.querySelectorAll(".number, [data-total]:not(tr)")) {
    const text = rects(one);
    if (new Set(text.map(({ top }) => Math.round(top))).size > 1) faults.push(`broken: ${one.textContent}`);
    const id = one.closest("tr, li")?.querySelector("bdi")?.getBoundingClientRect();
    const covers = ({ left, right, top, bottom }: DOMRect) =>
      id && left < id.right && right > id.left && top < id.bottom && bottom > id.top;
    if (text.some(covers)) faults.push(`over its id: ${one.textContent}`);
  }
  for (const one of document.querySelectorAll("h1, bdi")) {
    const lines = one.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(one).lineHeight);
    if (lines > 3.1) faults.push(`${lines} lines: ${one.textContent?.slice(0, 40)}`);
  }
  return faults;
}

/** The links of the views that have a visible line below. */
async function underlined(page: Page): Promise<string[]> {
  const links = await page.getByRole("navigation").getByRole("link").all();
  const names: string[] = [];
  for (const link of links) {
    const isLine = await link.evaluate((one) => {
      const { borderBottomColor } = getComputedStyle(one);
      return borderBottomColor !== getComputedStyle(document.documentElement).backgroundColor;
    });
    if (isLine) names.push((await link.textContent()) ?? "");
  }
  return names;
}

/**
 * The names of the controls in the order of the page, of which Tab reaches the checked one among radio buttons; and the control that
 * has the focus, and whether that can be seen.
 */
function controlsOf() {
  const nameOf = (one: Element) =>
    `${one.localName} ${one.textContent?.trim() || one.getAttribute("value") || one.id || one.getAttribute("name")}`;
  const all = [...document.querySelectorAll("a[href], button, input, summary, select, [tabindex='0']")]
    .filter((one) => one.checkVisibility() && !one.matches(":disabled, [type=radio]:not(:checked)"))
    .map(nameOf);
  const active = document.activeElement as HTMLElement;
  // A radio button is drawn by its label.
  const drawn = active.matches("[type=radio]") ? (active.nextElementSibling as HTMLElement) : active;
  const { outlineStyle, outlineWidth, borderRadius } = getComputedStyle(drawn);
  const { top, bottom } = drawn.getBoundingClientRect();
  const isOutlined = outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2;
  return {
    all,
    focused: nameOf(active),
    isSeen: isOutlined && bottom > 0 && top < innerHeight,
    isPill: borderRadius === "999px",
  };
}

declare global {
  interface Window {
    axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
  }
}
