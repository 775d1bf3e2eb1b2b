/** A button and its total, in a real browser. */
import { expect, test } from "vitest";
import { readPublished, sumOfIncrements } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests, type Tab } from "./chromium.ts";
import { holdFirestore } from "./network.ts";
import { expectTruth } from "./story.ts";

const browser = browserForTests();

test("a click shows at once, before the server has it, and in the published total later", async () => {
  const id = "clicks:one";
  const tab = await browser.open("button", { id });
  await tab.shows("total", 0);
  await tab.shows("pending", "false");
  const release = await holdFirestore(tab.page);
  for (const total of [1, 2, 3]) {
    await tab.click("increment");
    await tab.shows("total", total);
  }
  await tab.shows("pending", "true");
  await tab.shows("under-way", 3);
  expect(await sumOfIncrements(id)).toBe(0);

  release();
  await tab.shows("succeeded", 3);
  await tab.shows("pending", "false");
  await tab.shows("total", 3);
  await until(async () => (await readPublished(id))?.total === 3, "the total to be published");
  await tab.click("increment");
  await until(async () => (await readPublished(id))?.total === 4, "the next total to be published");
  await tab.shows("total", 4);
  await expectTruth(tab);
  expect(tab.problems).toEqual([]);
});

test("two tabs show the same total in the end, and never one that falls or exceeds the clicks", async () => {
  const id = "clicks:two";
  const [left, right] = [await browser.open("button", { id }), await browser.open("button", { id })];
  await Promise.all([left.shows("total", 0), right.shows("total", 0)]);
  await Promise.all([clicks(left, 30), clicks(right, 20)]);
  await Promise.all([left.shows("total", 50), right.shows("total", 50)]);
  await Promise.all([left.shows("succeeded", 30), right.shows("succeeded", 20)]);
  await until(async () => (await readPublished(id))?.total === 50, "the total to be published");
  expect(await sumOfIncrements(id)).toBe(50);
  await expectTruth(left, right);
});

async function clicks(tab: Tab, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await tab.click("increment");
}
