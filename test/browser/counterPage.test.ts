/** The page of one counter beyond its total: history, top items and regions, in a real browser. */
import { Timestamp } from "firebase-admin/firestore";
import { expect, test } from "vitest";
import { historyPlace } from "../../core/src/index.ts";
import { admin } from "../../testkit/clients.ts";
import { until } from "../../testkit/until.ts";
import { hoursOfDay } from "../../web/src/dashboard/periods.ts";
import { browserForTests } from "./chromium.ts";
import { problemsOf, total, visit } from "./page.ts";

const browser = browserForTests();

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
