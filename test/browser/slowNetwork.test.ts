/**
 * Pages on a slow network: it is no contention, so they write the document of a calm counter. A page that is hidden meanwhile stores its
 * increment, for the only shard, and loses nothing when it is closed later.
 *
 * The proxy delays all data of a page; the handshake of TCP is not delayed. A first read takes two round trips, because the browser
 * sends a preflight before it.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { counter, incrementCounter } from "../../client/src/web/index.ts";
import { FIRST_COUNT_TIMEOUT_MS } from "../../core/src/timeouts.ts";
import { admin, type Client, client } from "../../testkit/clients.ts";
import { readShards } from "../../testkit/storedCounter.ts";
import { delayingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";
import { browserForTests, type Tab } from "./chromium.ts";

const browser = browserForTests();
const ROUND_TRIPS_MS = [300, 500, 1_500, 3_000];
/** What the user of a page does. */
const USES: Readonly<Record<string, (tab: Tab) => Promise<void>>> = {
  "increments once": async (tab) => {
    await tab.click("increment");
    await tab.shows("succeeded", 1);
  },
  "increments twice at once": async (tab) => {
    await tab.clickAtOnce("increment", 2);
    await tab.shows("succeeded", 2);
  },
  "increments again after the first answer": async (tab) => {
    await tab.click("increment");
    await tab.shows("succeeded", 1);
    await tab.click("increment");
    await tab.shows("succeeded", 2);
  },
};

let fast: Client;
const proxies: { close(): Promise<void> }[] = [];
beforeAll(() => {
  fast = client();
});
afterAll(async () => {
  await fast.close();
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

test("a fresh page writes the document of a calm counter or its only shard, however slow its network is", async () => {
  const pages = ROUND_TRIPS_MS.flatMap((roundTrip) =>
    Object.entries(USES).map(async ([use, act]) => {
      const id = `slow:${roundTrip}-${use.replaceAll(" ", "-")}`;
      const before = await makeCalmCounter(id);
      const tab = await browser.open("unwatched", { id, firestore: await slowFirestore(roundTrip) });
      await act(tab);
      const after = await countsOf(id);
      const added = Object.keys(after).filter((place) => after[place] !== before[place]);
      return `${roundTrip} ms, ${use}: ${added}`;
    }),
  );
  // Once a write has been slow, the document is read again before the next one, for a second at most.
  for (const page of await Promise.all(pages)) expect(page).toMatch(/: (0,)?direct$/);
});

test("a page that is hidden while it reads the shard count, and then closed, leaves its increment to another tab", async () => {
  const id = "slow:closed";
  await makeCalmCounter(id);
  const shared = { id, persistent: "", tabs: "" };
  const other = await browser.open("button", shared);
  await other.shows("total", 2);
  // Neither a read nor a write of this page has an answer before the end of the test.
  const left = await browser.open("unwatched", { ...shared, firestore: await slowFirestore(60_000) });
  await left.click("increment");
  await left.shows("under-way", 1);
  await hide(left);
  const isOnDisk = async () => (await other.page.textContent("#kept")) === "3";
  await until(isOnDisk, "the increment on disk", FIRST_COUNT_TIMEOUT_MS / 2);
  await left.page.close();
  await until(async () => (await countsOf(id))["0"] === 1, "the increment to arrive");
  expect(await countsOf(id)).toEqual({ direct: 2, 0: 1 });
});

/** Creates a counter of two increments, which are in its document. @returns what each place has */
async function makeCalmCounter(id: string): Promise<Record<string, number>> {
  const ref = counter(fast.db, id);
  for (let n = 0; n < 2; n++) await incrementCounter(ref);
  const counts = await countsOf(id);
  expect(counts).toEqual({ direct: 2 });
  return counts;
}

/** As the browser does when the user goes to another tab or app. */
async function hide({ page }: Tab): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
}

/** The counter document as `direct`, and shards by id. */
async function countsOf(id: string): Promise<Record<string, number>> {
  const shards = [...(await readShards(id))].map(([shard, { count }]) => [shard, count]);
  return Object.fromEntries([["direct", (await admin.doc(`counters/${id}`).get()).get("direct.count")], ...shards]);
}

/** @returns the address of a proxy of one page's own, because Chromium opens six connections to an address */
async function slowFirestore(roundTripMs: number): Promise<string> {
  const proxy = await delayingProxy(process.env.FIRESTORE_EMULATOR_HOST as string, roundTripMs / 2);
  proxies.push(proxy);
  return proxy.address;
}
