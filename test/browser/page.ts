/** The page, as Hosting serves it, in the hands of a test. */
import type { Page } from "playwright-core";
import { OPERATOR } from "../../demo/operator.ts";
import type { Browser, Tab } from "./chromium.ts";

export const address = `http://${process.env.TALLY_HOSTING_HOST}/`;

/** Resolves when the view has its numbers. */
export async function visit(browser: Browser, hash: string): Promise<Tab> {
  const tab = await browser.visit("about:blank");
  await open(tab, hash);
  return tab;
}

/** Opens a view of the page in a tab. */
export async function open({ page }: Tab, hash: string): Promise<void> {
  await page.goto(address + hash);
  await page.waitForSelector(hash === "#/" ? "#total[data-total]" : "main[aria-busy=false]");
}

/** Signs in as an operator, from the top of the page. */
export async function signIn(page: Page): Promise<void> {
  await page.click(".account > button:text('Sign in')");
  await fillSignIn(page);
  await page.locator("header", { hasText: OPERATOR.email }).waitFor();
}

/** Fills the open dialog. */
export async function fillSignIn(page: Page, password = OPERATOR.password): Promise<void> {
  await page.fill("dialog input[name=email]", OPERATOR.email);
  await page.fill("dialog input[name=password]", password);
  await page.click("dialog button:text('Sign in')");
}

/** WebChannel asks an image of Google's whether there is a network, which the page's policy does not allow it. */
export function problemsOf({ problems }: Tab): readonly string[] {
  return problems.filter((problem) => !problem.includes("cleardot.gif"));
}

/** What a total is that the page shows, or runs to. */
export async function total({ page }: Tab, id: string): Promise<number> {
  return Number((await page.getAttribute(`#${id}`, "data-total")) ?? Number.NaN);
}

/** The visible layout shifts that no input caused, and how far each moved: https://web.dev/articles/cls */
export async function shiftsOf(page: Page): Promise<{ value: number; moved: string }[]> {
  const shifts = await page.evaluate<{ value: number; moved: string }[]>(
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
  return shifts.filter(({ value }) => value > 0.001);
}
