/** The page's dashboard, as Hosting serves it, in a real browser. */
import { readFileSync } from "node:fs";
import { FieldValue, Timestamp } from "firebase-admin/firestore";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { addOperator, OPERATOR } from "../../demo/operator.ts";
import { admin } from "../../testkit/clients.ts";
import { loadRules, OPEN_RULES, withPolicy } from "../../testkit/rules.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests, type Tab } from "./chromium.ts";
import { hold } from "./network.ts";
import { address, fillSignIn, problemsOf, signIn, total, visit } from "./page.ts";

const browser = browserForTests();

const DAY = 86_400_000;

describe("the dashboard", () => {
  beforeAll(addOperator);

  /** Documents as the functions publish them; these counters have no writers. */
  const counters = Object.fromEntries(
    Array.from({ length: 25 }, (_, i) => [
      `fleet:${String.fromCharCode(97 + i)}`,
      {
        total: 7_000_000 + i * 1_003,
        rate: (i * 7) % 25,
        shardCount: 1 + i,
        writes: i,
        asOf: Timestamp.now(),
        windows: windowsOf(i),
      },
    ]),
  );
  /** Every second counter was not written today. */
  function windowsOf(i: number) {
    const [tonight, last] = [1, 0].map((days) => Timestamp.fromMillis((Math.floor(Date.now() / DAY) + days) * DAY));
    const count = (until: Timestamp | undefined, total: number) => ({ until, total });
    return {
      timeZone: "UTC",
      day: count(i % 2 ? tonight : last, (i * 11) % 25),
      week: count(tonight, i),
      month: count(tonight, i),
    };
  }
  const ofToday = Object.entries(counters)
    .filter((_, i) => i % 2)
    .sort(([, a], [, b]) => b.windows.day.total - a.windows.day.total)
    .map(([id]) => id);
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

  test("shows the published counters by total and by rate, page by page, and finds them by group and by id", async () => {
    await fill();
    const tab = await visit(browser, "#/dashboard");
    await tab.page.fill("#search", "fleet:");
    await listed(tab, inOrderOf("total").slice(0, 20));
    for (const row of await tab.page.$$("tbody tr")) {
      const id = (await row.getAttribute("data-id")) as string;
      const [total, today, rate, shards] = await row.$$eval("td", (cells) =>
        cells.slice(0, 4).map((cell) => cell.textContent),
      );
      const document = counters[id] as (typeof counters)[string];
      expect(Number(today)).toBe(ofToday.includes(id) ? document.windows.day.total : 0);
      expect(total).toBe(document.total.toLocaleString("en"));
      expect(Number(rate)).toBeCloseTo(document.rate, 1);
      expect(Number(shards)).toBe(document.shardCount);
    }
    await admin.doc("counters/fleet:a").update({ total: 9_999_999, asOf: Timestamp.now() });
    await listed(tab, ["fleet:a", ...inOrderOf("total").slice(0, 19)]);
    await admin.doc("counters/fleet:a").update({ total: counters["fleet:a"]?.total });

    await tab.page.check("input[value=rate]", { force: true });
    await listed(tab, inOrderOf("rate").slice(0, 20));
    await tab.page.locator("button[aria-disabled=false]", { hasText: "Next" }).press("Enter");
    await listed(tab, inOrderOf("rate").slice(20));
    // Keyboard users keep their place, though there is no further page.
    expect(await tab.page.evaluate(() => document.activeElement?.textContent)).toBe("Next");
    await tab.page.reload();
    await listed(tab, inOrderOf("rate").slice(20));
    await tab.page.getByText(`5 counters, after ${inOrderOf("rate")[19]}`).waitFor();
    await tab.page.goBack();
    await listed(tab, inOrderOf("rate").slice(0, 20));
    await tab.page.getByText("The first 20 counters").waitFor();
    await tab.page.check("input[value=day]", { force: true });
    await listed(tab, ofToday);
    await tab.page.fill("#search", "fleet:c");
    await listed(tab, ["fleet:c"]);
    expect(await tab.page.isDisabled("input[value=day]")).toBe(true);
    await tab.page.click("tbody a");
    await tab.page.waitForSelector("main.counter #total[data-total]");
    await tab.page.goBack();
    await listed(tab, ["fleet:c"]);
    expect(await tab.page.inputValue("#search")).toBe("fleet:c");
    await tab.page.click("nav >> text=Dashboard");
    await until(async () => (await tab.page.inputValue("#search")) === "", "the list of all");
    await tab.page.evaluate(() => {
      location.hash = "#/dashboard?find=fleet%3Ac";
    });
    await listed(tab, ["fleet:c"]);
    await tab.page.evaluate(() => {
      location.hash = "#/dashboard?find=fleet%3A&after=fleet%3Anone";
    });
    await tab.page.getByText("It begins after fleet:none, which does not exist").waitFor();
    await tab.page.click("text=First page");
    await listed(tab, inOrderOf("total").slice(0, 20));
    await tab.page.fill("#search", "no such counter");
    await tab.page.getByText("No counter for").waitFor();
    await tab.page.fill("#search", "fleet:/");
    await tab.page.getByText("No counter for “fleet:/”").waitFor();
    expect(Number(await tab.page.textContent("#reads"))).toBeLessThan(220);
    expect(problemsOf(tab)).toEqual([]);
  });

  test("is for operators only if the rules say so; they stay signed in until they sign out", async () => {
    await fill();
    const guide = readFileSync(new URL("../../docs/dashboard.md", import.meta.url), "utf8");
    const [, closing] = /```rules\n(function mayReadCounter[^`]+)```/.exec(guide) ?? [];
    const project = process.env.GCLOUD_PROJECT as string;
    await loadRules(project, withPolicy(OPEN_RULES, closing as string));
    onTestFinished(() => loadRules(project, OPEN_RULES));
    const { page } = await visit(browser, "#/dashboard");

    await page.getByText("These counters are for operators only").waitFor();
    await page.goto(`${address}#/dashboard/fleet%3Aa`);
    await page.getByText("This counter is for operators only").waitFor();
    await admin.doc("counters/likes:closed").set({ total: 3, asOf: Timestamp.now(), group: "likes" });
    await page.goto(`${address}#/dashboard/likes%3Aclosed`);
    await page.getByText("For operators only", { exact: true }).waitFor();
    expect(await page.getByText("This counter is for operators only").count()).toBe(0);

    await page.goto(`${address}#/dashboard`);
    await signIn(page);
    await page.waitForSelector("tbody tr[data-id]");
    // The first read is sent before the user is restored, and is denied.
    for (const [view, denial, shown] of [
      ["#/dashboard", "These counters are for operators only", "tbody tr[data-id]"],
      ["#/", "The security rules show this to operators", "#total[data-total]"],
    ] as const) {
      await page.goto(address + view);
      const release = await hold(page, "**/assets/authSession-*.js");
      await page.reload();
      await page.getByText(denial).waitFor();
      release();
      await page.waitForSelector(shown);
    }
    await page.goto(`${address}#/dashboard/fleet%3Ab`);
    await page.waitForSelector("#total[data-total]");
    await page.click("#show-shards");
    await page.getByText("1 reads so far").waitFor();

    await page.goto(`${address}#/dashboard`);
    await page.getByRole("status").getByText(`Signed in as ${OPERATOR.email}.`).waitFor({ state: "attached" });
    await page.click("text=Sign out");
    await page.getByText("These counters are for operators only").waitFor();
    await page.click(".account > button:text('Sign in')");
    expect(await page.inputValue("dialog input[name=password]")).toBe("");
  });

  test("shows one counter, its shards on demand, its history, and its corrections to operators only", async () => {
    const id = "fleet:one/of#%them".replace("/", " ");
    await admin.doc(`counters/${id}/shards/0`).set({ count: 41, writes: 41 });
    await until(async () => (await readPublished(id))?.total === 41, "the total to be published");
    await admin
      .doc(`counters/${id}/tallyCorrections/x`)
      .set({ expected: 42, found: 41, by: 1, at: FieldValue.serverTimestamp() });
    const tab = await visit(browser, `#/dashboard/${encodeURIComponent(id)}`);
    await until(async () => (await total(tab, "total")) === 41, "the total");
    await tab.click("show-shards");
    await tab.page.getByText("1 reads so far").waitFor();
    await tab.page.check("input[name=range][value=today]", { force: true });
    await tab.page.getByText(/^Only the total at .* is known, 41\./).waitFor();

    await tab.page.getByText("For operators only", { exact: true }).waitFor();
    // A denied part of a view opens the same dialog as the top of the page.
    await tab.page.click("#corrections >> text=Sign in");
    await fillSignIn(tab.page, "wrong");
    await tab.page.getByText("Unknown account or wrong password").waitFor();
    await fillSignIn(tab.page);
    const cells = tab.page.locator("#corrections tbody td");
    await cells.first().waitFor();
    expect(await cells.allTextContents()).toEqual(["42", "41", "+1"]);
    await tab.page.click("text=Sign out");
    await tab.page.getByText("For operators only", { exact: true }).waitFor();
    expect(await cells.count()).toBe(0);
  });
});

async function listed({ page }: Tab, ids: readonly string[]): Promise<void> {
  let shown: (string | null)[] = [];
  await until(async () => {
    shown = await page.$$eval("tbody tr", (rows) => rows.map((row) => row.getAttribute("data-id")));
    return JSON.stringify(shown) === JSON.stringify(ids);
  }, `the list ${ids}`).catch((error) => {
    throw new Error(`${error.message}: it shows ${shown}`);
  });
}
