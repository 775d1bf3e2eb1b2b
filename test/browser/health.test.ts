/** What the page says of its own state, in a real browser: late totals, and what it cannot find. */
import { setTimeout as sleep } from "node:timers/promises";
import { Timestamp } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { addOperator } from "../../demo/operator.ts";
import { admin, client } from "../../testkit/clients.ts";
import { freezeFunctions } from "../../testkit/deployedFunctions.ts";
import { until } from "../../testkit/until.ts";
import { TRAFFIC } from "../../web/src/traffic/demoCounters.ts";
import { RATES } from "../../web/src/traffic/rates.ts";
import { browserForTests, type Tab } from "./chromium.ts";
import { cutFirestore } from "./network.ts";
import { address, open, problemsOf, signIn, total, visit } from "./page.ts";

const browser = browserForTests();
/** The tabs of a browser have one user. */
const [operators, onCall] = [browserForTests(), browserForTests()];
beforeAll(addOperator);

describe("functions that stand still under traffic", () => {
  test("show visitors their late increments, and operators on every view the commands to run", async () => {
    const visitor = await visit(browser, "#/");
    await visitor.page.locator("#per-second").fill(String(RATES.indexOf(8)));
    await visitor.click("traffic");
    await until(async () => /exact/.test(await stateOf(visitor)), "totals");
    const operator = await visit(operators, "#/dashboard?find=demo%3A");
    await signIn(operator.page);
    await operator.page.locator("#late", { hasText: /\d/ }).waitFor();

    const thaw = freezeFunctions();
    onTestFinished(thaw);
    await says(
      visitor,
      /^\d+ increments made here are stored, but not in the published total yet; the oldest waits for \d+ s\.$/,
    );
    const row = operator.page.locator(`tr[data-id="${TRAFFIC}"] em`);
    const lateText = async () => (await row.count()) > 0 && (await row.textContent());
    await until(async () => /Not published for|overdue by/.test((await lateText()) || ""), "the row to say it", 60_000);
    expect(Number(await operator.page.textContent("#late"))).toBeGreaterThan(0);
    await operator.page.locator("#on-call code", { hasText: "npx firestore-tally doctor --project" }).waitFor();
    await operator.page.locator("#on-call a", { hasText: TRAFFIC }).first().click();
    await says(
      operator,
      /^(Not published for|The total is) \d+ s.*Run npx firestore-tally inspect demo:traffic .*, then npx firestore-tally doctor/,
    );
    await operator.page.click("nav >> text=Demo");
    await says(
      operator,
      /^(Not published for|The total is) \d+ s.*Run npx firestore-tally inspect demo:traffic .*, then npx firestore-tally doctor/,
    );

    thaw();
    for (const tab of [visitor, operator]) await says(tab, /exact at the instant of each total/);
    await visitor.click("traffic");
  });
});

test("an operator on call sees late totals, waiting tasks, drift and alarms in one look, and what it costs", async () => {
  const at = (secondsAgo: number) => Timestamp.fromMillis(Date.now() - secondsAgo * 1_000);
  const counters = admin.collection("counters");
  const fields = { total: 1, asOf: at(90), group: "oncall" };
  await Promise.all([
    counters.doc("oncall:overdue").set({ ...fields, phase: "busy", nextPollAt: at(80) }),
    counters.doc("oncall:due").set({ ...fields, phase: "busy", asOf: at(0), nextPollAt: at(-600) }),
    counters.doc("oncall:malformed").set({ ...fields, phase: "idle", malformedShards: ["3"] }),
    counters.doc("oncall:slow").set({ ...fields, phase: "idle", slowSince: at(20) }),
    counters.doc("oncall:drifted").set({ ...fields, phase: "idle", nextReconcileAt: at(-600) }),
    counters.doc("oncall:drifted/tallyCorrections/1").set({ expected: 4, found: 1, by: 3, at: at(7_200) }),
    counters.doc("oncall:unreconciled").set({ ...fields, phase: "idle", nextReconcileAt: at(3_600) }),
  ]);
  const { page } = await visit(onCall, "#/dashboard?find=oncall%3A");
  expect(await page.locator("#on-call").count()).toBe(0);
  await signIn(page);
  const figure = async (id: string) => {
    const box = page.locator(`#on-call div:has(> #${id})`);
    await box.locator(".fine").waitFor();
    return (await box.locator("dd").allTextContents()).join(" ").replace(/\s+/g, " ");
  };
  expect(await figure("late")).toMatch(
    /^1 oncall:overdue The total is 1 min old, and a measurement is overdue by 1 min\s?Run npx firestore-tally/,
  );
  expect(await figure("waiting")).toMatch(/^\d+ 1 overdue, the oldest by \d+ (s|min)/);
  expect(await figure("drift")).toMatch(/^1 oncall:drifted corrected by \+3, 2 h ago/);
  expect(await figure("alarms")).toContain("oncall:malformed a shard is left out of the total");
  expect(await figure("alarms")).toContain("oncall:slow its sum is slow");
  expect(await figure("alarms")).toContain("oncall:unreconciled a reconcile is overdue");
  // 2 polled, 5 that are not, the slow one, and 2 with a reconcile and their corrections: 12, and those of the traffic.
  await page.getByText(/: 1\d reads, every 30 s/).waitFor();
});

describe("a counter", () => {
  test("of one document is well, however old its publish, and late once a shard has a write that no publish follows", async () => {
    const id = "health:open";
    const thaw = freezeFunctions();
    onTestFinished(thaw);
    const direct = { open: true, generation: 0, count: 5, writes: 5, marks: {} };
    const asOf = Timestamp.fromMillis(Date.now() - 3_600_000);
    await admin.doc(`counters/${id}`).set({ total: 7, asOf, phase: "idle", group: "health", direct });
    const tab = await visit(browser, addressOf(id));
    await says(tab, /^One document: each increment is in the total at once\.$/);
    const shard = admin.doc(`counters/${id}/shards/0`);
    await until(async () => {
      // The emulator's watches miss a change now and then, which production's do not.
      await shard.set({ count: 1, writes: 1, at: Timestamp.fromMillis(Date.now() - 20_000) });
      await sleep(500);
      return /^Not published for \d+ s although writes arrive\./.test(await stateOf(tab));
    }, "the lateness");
    thaw();
    await until(async () => (await total(tab, "total")) !== 7, "the publish");
    await until(async () => !/Not published/.test(await stateOf(tab)), "the end of the lateness");
    expect(problemsOf(tab)).toEqual([]);
  });

  test("is as old on a device whose clock is a minute ahead", async () => {
    const id = "health:clock";
    const at = (secondsAgo: number) => Timestamp.fromMillis(Date.now() - secondsAgo * 1_000);
    const fields = { total: 1, group: "health", phase: "busy", asOf: at(40), nextPollAt: at(30) };
    await admin.doc(`counters/${id}`).set(fields);
    const tab = await browser.visit("about:blank");
    await tab.page.addInitScript(() => {
      const now = Date.now;
      Date.now = () => now() + 60_000;
    });
    await open(tab, addressOf(id));
    await says(tab, /^The total is 4\d s old, and a measurement is overdue by 3\d s\.$/);
  });

  test("that does not exist is said to, and is shown once something is counted", async () => {
    const id = "health:new";
    const tab = await visit(browser, addressOf(id));
    await tab.page.getByText("No such counter").waitFor();
    expect(await tab.page.locator("#total").count()).toBe(0);
    const writer = client();
    await incrementCounter(counter(writer.db, id));
    await until(async () => (await total(tab, "total")) === 1, "the counter");
    await writer.close();
  });
});

test("an address without a view says so", async () => {
  const { page } = await visit(browser, "#/elsewhere");
  await page.getByText("There is no page at this address").waitFor();
  expect(await page.title()).toBe("No such page – Tally");
  await page.click("main >> text=dashboard");
  await page.waitForSelector("main.dashboard");
});

describe("without a network", () => {
  test("a view is there that was not opened before; one that could not be loaded is loaded when the network is back", async () => {
    const { page } = await visit(browser, "#/");
    await page.waitForFunction(() =>
      performance.getEntriesByType("resource").some(({ name }) => /Dashboard-/.test(name)),
    );
    await browser.context.setOffline(true);
    await page.click("nav >> text=Dashboard");
    await page.waitForSelector("main.dashboard[aria-busy=false] h1:text('Counters')");
    await browser.context.setOffline(false);

    const { page: late } = await browser.visit("about:blank");
    await late.route("**/assets/Dashboard-*.js", (route) => route.abort());
    await late.goto(`${address}#/`);
    await late.waitForSelector("#total[data-total]");
    await late.evaluate(() => Object.assign(window, { isSame: true }));
    await late.click("nav >> text=Dashboard");
    await late.getByText("This view failed").waitFor();
    await late.unroute("**/assets/Dashboard-*.js");
    await browser.context.setOffline(true);
    await browser.context.setOffline(false);
    await late.waitForSelector("main.dashboard[aria-busy=false] h1:text('Counters')");
    expect(await late.evaluate(() => "isSame" in window)).toBe(true);
  });

  test("the page is not left without a question while increments wait, and offers no reload", async () => {
    const tab = await browser.visit("about:blank");
    const { page } = tab;
    await page.route("**/assets/CounterPage-*.js", (route) => route.abort());
    await open(tab, "#/");
    const reconnect = await cutFirestore(page);
    await page.click("#add");
    const asks = () => page.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));
    expect(await asks()).toBe(false);
    await until(asks, "the question");
    const question = page.waitForEvent("dialog");
    const reload = page.evaluate(() => location.reload());
    expect((await question).type()).toBe("beforeunload");
    await (await question).dismiss();
    await reload;

    await page.evaluate(() => {
      location.hash = "#/dashboard/demo%3Atraffic";
    });
    await page.getByText(/^A reload would lose \d increments? that the server has not acknowledged yet\.$/).waitFor();
    expect(await page.getByText("Reload the page").getAttribute("aria-disabled")).toBe("true");
    await reconnect();
    await page.locator("button[aria-disabled=false]", { hasText: "Reload the page" }).waitFor();
    expect(await asks()).toBe(false);
  });
});

function addressOf(id: string): string {
  return `#/dashboard/${encodeURIComponent(id)}`;
}

async function stateOf({ page }: Tab): Promise<string> {
  return (await page.textContent("#state", { timeout: 5_000 }).catch(() => "")) ?? "";
}

async function says(tab: Tab, text: RegExp): Promise<void> {
  let state = "";
  const matches = async () => {
    state = await stateOf(tab);
    return text.test(state);
  };
  await until(matches, `${text}`, 60_000).catch((error) => {
    throw new Error(`${error.message}: it says ${state}`);
  });
}
