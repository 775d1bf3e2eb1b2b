/** The React hooks in a real browser, inside StrictMode, with React's own checks on. */
import { counter, incrementCounter } from "firestore-tally";
import { createElement, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { afterAll, expect, test } from "vitest";
import { client } from "../../testkit/clients.ts";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests, type Tab } from "./chromium.ts";
import { holdFirestore } from "./network.ts";
import { Counted } from "./pages/Counted.ts";

/** Chromium logs a refused commit as an answer of 403. */
const isRefusal = (problem: string) => problem.includes("403");

const browser = browserForTests();
const others = client();
afterAll(() => others.close());

/** The totals that the page has shown. */
const readStory = ({ page }: Tab) => page.evaluate(() => window.story);

test("a click shows at once, as pending, and the total is published later", async () => {
  const id = "react:click";
  const tab = await browser.open("react", { id });
  await tab.shows("total", 0);
  const release = await holdFirestore(tab.page);
  await tab.click("increment");
  await tab.shows("total", 1);
  await tab.shows("pending", "true");
  expect(await sumOfIncrements(id)).toBe(0);
  release();
  await tab.shows("pending", "false");
  await tab.shows("total", 1);
  await until(async () => (await readPublished(id))?.total === 1, "the total to be published");
  await increment(id, 1);
  await tab.shows("total", 2);
  const totals = await readStory(tab);
  expect(totals).toEqual(totals.toSorted((a, b) => a - b));
  expect(tab.problems).toEqual([]);
});

test("any number of mounted components share one watch, which ends with them, and with it the renders", async () => {
  const id = "react:mount";
  const tab = await browser.open("react", { id });
  await increment(id, 1);
  await tab.shows("total", 1);
  expect(tab.watches(`counters/${id}`)).toBe(1);
  await tab.click("twice");
  await tab.shows("second #total", 1);
  expect(tab.watches(`counters/${id}`)).toBe(1);

  await tab.click("toggle");
  await until(() => tab.watches(`counters/${id}`) === 0, "the watch to end");
  const renders = (await readStory(tab)).length;
  await increment(id, 1);
  expect(await readStory(tab)).toHaveLength(renders);

  await tab.click("toggle");
  await tab.shows("total", 2);
  await tab.shows("second #total", 2);
  expect(tab.watches(`counters/${id}`)).toBe(1);
  await tab.click("increment");
  await tab.shows("total", 3);
  await tab.shows("second #total", 3);
  expect(tab.problems).toEqual([]);
});

test("a click before the first total is pending, and is in the total when it arrives", async () => {
  const [id, other] = ["react:loaded", "react:loading"];
  const tab = await browser.open("react", { id, other });
  await tab.shows("total", 0);
  const release = await holdFirestore(tab.page);
  await tab.click("change");
  await tab.shows("total", "…");
  await tab.shows("pending", "false");
  await tab.click("increment");
  await tab.shows("pending", "true");
  await tab.shows("total", "…");
  // Another component with the same counter shows it, too.
  await tab.click("twice");
  await tab.shows("second #pending", "true");
  release();
  await tab.shows("total", 1);
  await tab.shows("pending", "false");
  expect(await sumOfIncrements(other)).toBe(1);
  expect(tab.problems).toEqual([]);
});

test("useIncremented is undefined without `once`, then follows the clicks of the user at once", async () => {
  const id = "likes:react";
  const tab = await browser.open("reactLike", { id });
  await tab.shows("liked", "undefined");
  await tab.click("sign-in");
  await tab.shows("liked", "false");
  const once = await tab.page.textContent("#once");
  const release = await holdFirestore(tab.page);
  await tab.click("like");
  await tab.shows("liked", "true");
  expect(await sumOfIncrements(id)).toBe(0);
  release();
  await until(async () => (await sumOfIncrements(id)) === 1, "the like to be committed");
  await tab.click("unlike");
  await tab.shows("liked", "false");
  await until(async () => (await sumOfIncrements(id)) === 0, "the like to be undone");
  expect(tab.watches(`counters/${id}/tallyEntries/${once}`)).toBe(1);
  expect(tab.problems).toEqual([]);
});

test("useIncremented ends its watch with the component, and reports a watch that the rules refuse", async () => {
  const id = "likes:react-refused";
  const tab = await browser.open("reactLike", { id });
  await tab.click("sign-in");
  await tab.shows("liked", "false");
  const once = await tab.page.textContent("#once");
  await tab.click("toggle");
  await until(() => tab.watches(`counters/${id}/tallyEntries/${once}`) === 0, "the watch to end");
  await tab.click("toggle");
  await tab.shows("liked", "false");
  await tab.click("other");
  await tab.shows("liked", "undefined");
  await tab.shows("error", "permission-denied");
  await until(() => tab.watches(`counters/${id}/tallyEntries/${once}`) === 0, "the first watch to end");
});

test("with another ref, a component shows and watches only the other counter", async () => {
  const [id, other] = ["react:this", "react:other"];
  await Promise.all([increment(id, 2), increment(other, 3)]);
  const tab = await browser.open("react", { id, other });
  await tab.shows("total", 2);
  await tab.click("increment-by-5");
  await tab.shows("error", "counter/permission-denied");
  await tab.click("change");
  await tab.shows("total", 3);
  await tab.shows("error", "");
  await until(() => tab.watches(`counters/${id}`) === 0, "the first watch to end");
  expect(tab.watches(`counters/${other}`)).toBe(1);
  await tab.click("increment");
  await tab.shows("total", 4);
  await until(async () => (await sumOfIncrements(other)) === 4, "the increment");
  expect(await sumOfIncrements(id)).toBe(2);
  expect(tab.problems.filter((problem) => !isRefusal(problem))).toEqual([]);
});

test("a refused increment leaves the total and sets the error, until the next success", async () => {
  const id = "react:refused";
  await increment(id, 2);
  const tab = await browser.open("react", { id });
  await tab.shows("total", 2);
  const release = await holdFirestore(tab.page);
  await tab.click("increment-by-5");
  await tab.shows("total", 7);
  release();
  await tab.shows("error", "counter/permission-denied");
  await tab.shows("total", 2);
  await tab.shows("pending", "false");
  expect(await sumOfIncrements(id)).toBe(2);
  await tab.click("increment");
  await tab.shows("total", 3);
  await tab.shows("error", "");
  expect(tab.problems.filter((problem) => !isRefusal(problem))).toEqual([]);
});

test("the server-rendered total is hydrated without changes, then updated", async () => {
  const id = "react:hydrated";
  await increment(id, 2);
  const app = createElement(Counted, { of: counter(others.db, id), initialTotal: 2 });
  const html = renderToString(createElement(StrictMode, null, app));
  expect(html).toContain(">2</output>");
  const tab = await browser.open("react", { id, initialTotal: "2" }, html);
  await tab.shows("total", 2);
  await until(() => tab.watches(`counters/${id}`) === 1, "the watch");
  await tab.click("increment");
  await tab.shows("total", 3);
  await increment(id, 1);
  await tab.shows("total", 4);
  expect(tab.problems).toEqual([]);
});

/** Increments of another client. Resolves when the total with them is published. */
async function increment(id: string, times: number): Promise<void> {
  const before = (await readPublished(id))?.total ?? 0;
  await Promise.all(Array.from({ length: times }, () => incrementCounter(counter(others.db, id))));
  await until(async () => ((await readPublished(id))?.total ?? 0) >= before + times, "the total to be published");
}
