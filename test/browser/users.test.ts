/**
 * What tabs show to users who sign in and out, reload, and go offline: as the model of the SDK's device shows it
 * (../simulation/model/device.ts), on which a thousand random scenarios run.
 */
import { setTimeout as sleep } from "node:timers/promises";
import * as server from "firestore-tally/admin";
import { afterAll, expect, test } from "vitest";
import { isNightly } from "../../core/testing/runs.ts";
import { admin } from "../../testkit/clients.ts";
import { until } from "../../testkit/until.ts";
import type * as Entry from "../simulation/bundleEntry.ts";
import { buildSimulation } from "../simulation/run.ts";
import type { ShownTab } from "../simulation/users.ts";
import { browserForTests, type Tab } from "./chromium.ts";

/** Each takes some seconds. A hundred confirm the model. */
const RUNS = isNightly ? 100 : 4;
const browser = browserForTests();
const build = await buildSimulation();
const entry: typeof Entry = await import(build.path);
afterAll(() => build.remove());

/** The same kinds of counters as in the model: two that are open to direct increments, and one that is not. */
const KINDS: Record<string, string> = {
  "likes:open": "likes:device",
  "views:open": "opened:device",
  "views:closed": "views:device",
};

test.each(Array.from({ length: RUNS }, (_, i) => i + 1))(
  "each tab shows what the model's tab shows: seed %i",
  { timeout: 300_000 },
  async (seed) => {
    const { scenario, states } = await entry.usersAtRest(seed);
    const { counter, initialTotal, actions } = scenario;
    const id = `${KINDS[counter]}-${seed}`;
    const path = `counters/${id}`;
    if (counter === "views:closed")
      await admin.doc(path).set({ group: "views", total: 0, shardCount: 1, asOf: new Date(0) });
    const tabs: (Tab | undefined)[] = [];
    let isOnline = true;
    /** Opens a tab, or loads its page again. */
    const open = async (tab: number) => {
      const { total, version } = await server.getCounter(server.counter(admin, id));
      const rendered = { none: null, number: total, "with version": { total, version } }[initialTotal];
      const parameters = { id, persistent: "", tabs: "", initialTotal: JSON.stringify(isOnline ? rendered : null) };
      const all = { ...parameters, ...(!isOnline && { offline: "" }) };
      await tabs[tab]?.page.close();
      tabs[tab] = await browser.open("users", all);
      await tabs[tab].page.waitForFunction(() => window.users, undefined, IN_BACKGROUND);
    };
    const inAll = (act: (tab: Tab) => Promise<unknown>) => Promise.all(tabs.map((tab) => tab && act(tab)));
    await open(0);
    // The user of the run before.
    await signIn(tabs, "");
    await shows(tabs, states[0]);
    for (const [i, action] of actions.entries()) {
      const { does } = action;
      const user = does === "sign in" && action.user ? `${action.user}-${seed}` : "";
      const act = ({ page }: Tab) =>
        page.evaluate(([does, user]) => window.users.act(does, user), [does, user] as const);
      if (does === "open tab") {
        if (!tabs[action.tab]) await open(action.tab);
      } else if (does === "reload") {
        if (tabs[action.tab]) await open(action.tab);
      } else if (does === "close tab") {
        await tabs[action.tab]?.page.close();
        tabs[action.tab] = undefined;
      } else if (does === "sign in") {
        await signIn(tabs, user);
      } else if (does === "online" || does === "offline") {
        isOnline = does === "online";
        await inAll(act);
      } else if ("tab" in action && tabs[action.tab]) await act(tabs[action.tab] as Tab);
      await shows(tabs, states[i + 1], `after ${JSON.stringify(actions.slice(0, i + 1))} of ${counter}`);
    }
    expect(states).toHaveLength(actions.length + 1);
  },
);

/** Background tabs draw no frames. */
const IN_BACKGROUND = { polling: 50 };

type Tabs = readonly (Tab | undefined)[];

/** Another user signs in, in all tabs. */
async function signIn(tabs: Tabs, user: string): Promise<void> {
  await tabs[0]?.page.evaluate((user) => window.users.act("sign in", user), user);
  for (const tab of tabs) await tab?.page.waitForFunction((user) => window.users.user() === user, user, IN_BACKGROUND);
  // Firestore learns that later.
  await sleep(100);
}

/** Waits until each tab shows what the model's tab does. A tab that opens offline may not know that there is no counter. */
async function shows(tabs: Tabs, expected: readonly (ShownTab | undefined)[] = [], after = "at first"): Promise<void> {
  const wanted = [0, 1].map((tab) => expected[tab] ?? null);
  let shown: unknown[] = [];
  const isShown = async () => {
    shown = await Promise.all([0, 1].map((tab) => tabs[tab]?.page.evaluate(() => window.users.shown()) ?? null));
    return JSON.stringify(shown) === JSON.stringify(wanted);
  };
  await until(isShown, "the states of the model", 20_000).catch(() => {});
  expect(shown, after).toEqual(wanted);
}
