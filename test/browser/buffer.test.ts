/** A buffered counter in a real browser: many increments become few writes, and a hidden page writes at once. */

import { initializeTestEnvironment, type RulesTestEnvironment } from "@firebase/rules-unit-testing";
import { doc, type Firestore, getDoc } from "firebase/firestore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPEN_RULES } from "../../testkit/rules.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests, type Tab } from "./chromium.ts";

/** A separate project, whose rules accept larger amounts and which has no functions. */
const project = "demo-tally-buffer";
const HOUR = 3_600_000;

let environment: RulesTestEnvironment;
beforeAll(async () => {
  const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST ?? "").split(":");
  const rules = OPEN_RULES.replace("return by == 1;", "return by >= 1 && by <= 100;");
  environment = await initializeTestEnvironment({
    projectId: project,
    firestore: { host, port: Number(port), rules },
  });
});
afterAll(() => environment?.cleanup());

const browser = browserForTests();

test("50 increments show at once and become 1 write", async () => {
  const id = "scrolls:interval";
  const tab = await open(id, 1_000);
  await tab.clickAtOnce("increment", 50);
  await tab.shows("total", 50);
  await tab.shows("pending", "true");
  await tab.shows("pending", "false");
  expect(await written(id)).toEqual({ count: 50, writes: 1 });
  await tab.shows("total", 50);
  expect(tab.problems).toEqual([]);
});

test("a tab that becomes hidden writes its buffer", async () => {
  const id = "scrolls:hidden";
  const tab = await open(id, HOUR);
  await tab.clickAtOnce("increment", 50);
  await tab.shows("total", 50);
  expect(await written(id)).toEqual({ count: 0, writes: 0 });
  await tab.page.evaluate(() => {
    Object.defineProperty(document, "visibilityState", { value: "hidden" });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await until(async () => (await written(id)).count > 0, "the write");
  expect(await written(id)).toEqual({ count: 50, writes: 1 });
});

async function open(id: string, flushInterval: number): Promise<Tab> {
  const tab = await browser.open("buffer", { id, project, flushInterval: String(flushInterval) });
  await tab.shows("total", 0);
  return tab;
}

/** Reads the counter document without the rules: its counter is calm. */
async function written(id: string): Promise<{ count: number; writes: number }> {
  const sum = { count: 0, writes: 0 };
  await environment.withSecurityRulesDisabled(async (context) => {
    const counter = await getDoc(doc(context.firestore() as unknown as Firestore, `counters/${id}`));
    Object.assign(sum, { count: counter.get("direct.count") ?? 0, writes: counter.get("direct.writes") ?? 0 });
  });
  return sum;
}
