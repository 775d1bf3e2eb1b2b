/**
 * A real Chromium for tests. Its pages are bundled from the built package, as in an app, and connect to the emulators. Each
 * browser has a separate profile, which a restart keeps.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { CHROMIUM_ARGUMENTS, FETCH_TIMEOUT_MS, findChromium } from "../../testkit/chromium.ts";
import { type Site, startSite } from "../../testkit/site.ts";
import { until } from "../../testkit/until.ts";
import { countWatches } from "./network.ts";

/** One page of a browser. */
export interface Tab {
  readonly page: Page;
  /** Errors and warnings of the console, and uncaught errors. */
  readonly problems: readonly string[];
  /** How many watches of a document this page has at the server. */
  watches(path: string): number;
  /** Clicks the button with an id, also in a background tab: without waiting for frames, which such tabs do not draw. */
  click(id: string): Promise<void>;
  /** Clicks a button so many times in one turn of the page's event loop. */
  clickAtOnce(id: string, times: number): Promise<void>;
  /** Waits until the element with an id has exactly this text. */
  shows(id: string, text: string | number): Promise<void>;
}

export interface Browser {
  readonly context: BrowserContext;
  /**
   * Opens a page in a new tab, until the end of the test. At most two tabs at a time can reach the emulator, because each
   * keeps two connections open and Chromium has six for one host.
   *
   * @param name        of `pages/<name>.ts`
   * @param parameters  the query parameters of its address
   * @param html        the server-rendered content of its `#root`
   */
  open(name: string, parameters?: Record<string, string>, html?: string): Promise<Tab>;
  /** Opens an address in a new tab, until the end of the test. */
  visit(address: string): Promise<Tab>;
  /** Ends the browser and starts it again with the same profile, without its tabs. */
  restart(): Promise<void>;
}

const TIMEOUT_MS = 20_000;

/** A browser for the tests of a file: starts before the first test, ends after the last, closes its tabs after each. */
export function browserForTests(): Browser {
  const profile = mkdtempSync(join(tmpdir(), "tally-chromium-"));
  const tabs = new Set<Page>();
  let context: BrowserContext;
  let site: Site;

  async function launch(): Promise<void> {
    context = await chromium.launchPersistentContext(profile, { ...(await findChromium()), args: CHROMIUM_ARGUMENTS });
    context.setDefaultTimeout(TIMEOUT_MS);
  }
  async function visit(address: string): Promise<Tab> {
    const page = await context.newPage();
    tabs.add(page);
    const tab = observe(page);
    await page.goto(address);
    return tab;
  }
  async function closeTabs(): Promise<void> {
    await Promise.all([...tabs].map((page) => page.close()));
    tabs.clear();
    await context.setOffline(false);
  }

  beforeAll(async () => {
    site = await startSite(new URL("./pages/", import.meta.url));
    await launch();
  }, FETCH_TIMEOUT_MS);
  afterEach(closeTabs);
  afterAll(async () => {
    await context?.close();
    await site.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  });

  return {
    get context() {
      return context;
    },
    open: async (name, parameters = {}, html = "") => visit(await site.address(name, parameters, html)),
    visit,
    async restart() {
      await closeTabs();
      await context.close();
      await launch();
    },
  };
}

function observe(page: Page): Tab {
  const problems: string[] = [];
  page.on("console", (message) => {
    // A refused write closes the SDK's channel. Sometimes the SDK uses it once more, gets an error, and opens another.
    if (/\/google\.firestore\.v1\.Firestore\//.test(message.location().url)) return;
    // The question whether an instant is past is answered by a refusal, once for each page (client/src/web/serverTime.ts).
    if (/\/documents:batchGet\?/.test(message.location().url) && message.text().includes("403")) return;
    if (/RPC 'BatchGetDocuments'.*"permission-denied"/s.test(message.text())) return;
    if (["error", "warning"].includes(message.type())) problems.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  return {
    page,
    problems,
    watches: countWatches(page),
    click: (id) => page.dispatchEvent(`#${id}`, "click"),
    clickAtOnce(id, times) {
      const click = (button: HTMLElement, times: number) => {
        for (let n = 0; n < times; n++) button.click();
      };
      return page.$eval(`#${id}`, click as (button: Element, times: number) => void, times);
    },
    async shows(id, text) {
      let shown: string | null = null;
      const showsIt = async () => {
        shown = await page.textContent(`#${id}`);
        return shown === String(text);
      };
      await until(showsIt, `#${id} to show ${text}`).catch((error) => {
        throw new Error([`${error.message}: it shows ${shown}`, ...problems].join("\n"));
      });
    },
  };
}
