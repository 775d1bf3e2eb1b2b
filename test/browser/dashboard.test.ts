/** The page's dashboard, as Hosting serves it, in a real browser. */
import { readFileSync } from "node:fs";
import { FieldValue, Timestamp } from "firebase-admin/firestore";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { historyPlace } from "../../core/src/index.ts";
import { addOperator, OPERATOR } from "../../demo/operator.ts";
import { admin } from "../../testkit/clients.ts";
import { loadRules, OPEN_RULES, withPolicy } from "../../testkit/rules.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { hoursOfDay } from "../../web/src/dashboard/periods.ts";
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

test("the dashboard shows what was added today beside last week, and in 30 days, with total and shards", async () => {
  const id = "fleet:history";
  const now = Date.now();
  const [midnight = 0] = hoursOfDay(now);
  const [weekAgo = 0] = hoursOfDay(now, 7);
  const state = (at: number, total: number, shardCount: number) => {
    return { total, writes: total, rate: 1, shardCount, publishes: 1, asOf: Timestamp.fromMillis(at) };
  };
  const history = [
    state(weekAgo - 1_800_000, 100, 1),
    state(weekAgo + 1_800_000, 180, 2),
    state(midnight - 1_800_000, 1_000, 8),
  ];
  for (const point of history) {
    const { id: name, key } = historyPlace("hour", point.asOf.toMillis());
    await admin.doc(`counters/${id}/tallyHistory/${name}`).set({ points: { [key]: point } }, { merge: true });
  }
  await admin.doc(`counters/${id}`).set({ ...state(now, 1_040, 4), group: "fleet" });
  const tab = await visit(browser, `#/dashboard/${encodeURIComponent(id)}`);
  await until(async () => (await total(tab, "total")) === 1_040, "the total");
  const labels = () => tab.page.locator("figure [role=img]").evaluateAll((all) => all.map((one) => one.ariaLabel));
  expect(await labels()).toEqual([
    expect.stringMatching(/^Writes per second over two minutes: .* now/),
    "Shards over two minutes: 4 now, 4 at most.",
  ]);
  await tab.page.getByText("Today and 30 days cost at most 33 reads").waitFor();

  await tab.page.check("input[name=range][value=today]", { force: true });
  await tab.page.getByText("40 today.").waitFor();
  const isFirstHour = now - midnight < 3_600_000;
  if (!isFirstHour) await tab.page.getByText(/By \d\d:\d\d: 0, and 80 by then a week ago\./).waitFor();
  expect(await labels()).toEqual([
    expect.stringMatching(/^Added per hour today: highest 40 \(.*\), latest 40 \(.*\)\. 40 today\./),
    "Total: from 1,000 to 1,040, at most 1,040.",
    `Shards: from ${isFirstHour ? 4 : 8} to 4, at most ${isFirstHour ? 4 : 8}.`,
  ]);
  await tab.page.getByText("Cost: at most 5 reads so far.").waitFor();
  await admin.doc(`counters/${id}`).update(state(Date.now(), 1_050, 4));
  await tab.page.getByText("50 today.").waitFor();

  await tab.page.check("input[name=range][value=month]", { force: true });
  await tab.page
    .getByText(/^950 since .*History begins on .* with 100\. What was added before is not known\.$/)
    .waitFor();
  // Within the hour the history is not read again.
  await tab.page.check("input[name=range][value=live]", { force: true });
  await tab.page.check("input[name=range][value=today]", { force: true });
  // A total that is written now arrives after the answer of a read that began before.
  await admin.doc(`counters/${id}`).update(state(Date.now(), 1_060, 4));
  await tab.page.getByText("60 today.").waitFor();
  await tab.page.getByText("Cost: at most 5 reads so far.").waitFor();
  // An hour later it is.
  await tab.page.clock.install();
  await tab.page.clock.fastForward(3_600_000);
  await tab.page.getByText("Cost: at most 10 reads so far.").waitFor();
  expect(problemsOf(tab)).toEqual([]);
});

test("the dashboard shows the top items of a counter that has some, as text, and follows them", async () => {
  const id = "fleet:items";
  const items = [
    "/",
    "/pricing",
    "<b>bold</b>",
    "\u202emirrored",
    "日本",
    ...Array.from({ length: 20 }, (_, n) => `/${n}`),
  ];
  const top = items.map((item, n) => ({ item, count: 2_500 - 100 * n, error: n > 8 ? 12 : 0 }));
  await admin.doc(`counters/${id}`).set({ total: 31_000, asOf: Timestamp.now(), group: "fleet" });
  const document = admin.doc(`counters/${id}/tallySketches/topItems`);
  const tab = await visit(browser, `#/dashboard/${encodeURIComponent(id)}`);
  await until(async () => (await total(tab, "total")) === 31_000, "the total");
  expect(await tab.page.locator("#items").count()).toBe(0);
  await document.set({ top, error: 12, total: 50_000, asOf: Timestamp.now() });
  const rows = tab.page.locator("#items tbody tr");
  await rows.first().waitFor();
  expect(await rows.count()).toBe(20);
  expect(await rows.locator("bdi").allTextContents()).toEqual(items.slice(0, 20));
  expect(await rows.nth(2).locator("td").allTextContents()).toEqual(["2,300", "4.6%"]);
  expect(await rows.nth(9).locator("td").first().textContent()).toBe("1,600+");
  await tab.page.getByText("may be too low, by 12 at most").waitFor();
  await document.set({ top: top.slice(0, 1), error: 0, total: 2_500, asOf: Timestamp.now() });
  await tab.page.getByText("All counts are exact.").waitFor();
  expect(await rows.count()).toBe(1);
  expect(problemsOf(tab)).toEqual([]);
});

test("the dashboard shows what each region has counted, and follows it", async () => {
  const id = "fleet:regions";
  const document = admin.doc(`counters/${id}`);
  await document.set({ total: 300, asOf: Timestamp.fromMillis(0), rate: 0.9, phase: "idle", group: "fleet" });
  const tab = await visit(browser, `#/dashboard/${encodeURIComponent(id)}`);
  await until(async () => (await total(tab, "total")) === 300, "the total");
  expect(await tab.page.locator("#regions").count()).toBe(0);
  // It was published long ago, and would be with each write.
  expect(await tab.page.textContent("#rate")).toBe("0");
  const asOf = Timestamp.now();
  await document.update({ rate: 0.8, asOf });
  await until(async () => (await tab.page.textContent("#rate")) === "0.8", "the rate");
  const eu = { total: 20, asOf: Timestamp.fromMillis(Date.now() - 3.5 * 3_600_000), windows: null };
  await document.update({ globalTotal: 320, regions: { eu, asia: null }, unreachable: { eu: asOf } });
  await until(async () => (await total(tab, "total")) === 320, "the total of all regions");
  const rows = async () => (await tab.page.locator("#regions tbody tr").allTextContents()).map((text) => text.trim());
  expect(await rows()).toEqual([
    expect.stringMatching(/^this one300/),
    "asia–never heard",
    expect.stringMatching(/^eu203 h.* ago, cut off$/),
  ]);
  // An exchange writes the document, and leaves `asOf` as it is.
  await document.update({ globalTotal: 330, regions: { eu: { ...eu, total: 25, asOf }, asia: { ...eu, total: 5 } } });
  await until(async () => (await total(tab, "total")) === 330, "the new total");
  expect((await rows())[1]).toMatch(/^asia5/);
  expect(problemsOf(tab)).toEqual([]);
});

test("the dashboard shows a counter that other regions alone have counted", async () => {
  const id = "fleet:elsewhere";
  const eu = { total: 20, asOf: Timestamp.now(), windows: null };
  await admin.doc(`counters/${id}`).set({ globalTotal: 20, globalWindows: null, regions: { eu }, group: "fleet" });
  const tab = await visit(browser, `#/dashboard/${encodeURIComponent(id)}`);
  await until(async () => (await total(tab, "total")) === 20, "the total of all regions");
  await tab.page.getByText("Nothing was counted in this region yet.").waitFor();
  const rows = await tab.page.locator("#regions tbody tr").allTextContents();
  expect(rows).toEqual(["this one–nothing yet", expect.stringMatching(/^eu20/)]);
  expect(problemsOf(tab)).toEqual([]);
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
