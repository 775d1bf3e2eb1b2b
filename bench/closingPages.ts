/** Pages in a real Chromium that write and then end, and what the server has of their writes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Firestore, Timestamp } from "@google-cloud/firestore";
import { chromium, type Page } from "playwright-core";
import { CHROMIUM_ARGUMENTS, findChromium } from "../testkit/chromium.ts";
import { loadRules, OPEN_RULES } from "../testkit/rules.ts";
import { type Site, startSite } from "../testkit/site.ts";
import { delayingProxy } from "../testkit/tcpProxy.ts";
import type { Client, State, Visit } from "./pages/closing.ts";

/** Where the SDK keeps its queue: in memory; on disk, beside another tab of the app or without one. */
export const CACHES = ["memory", "shared", "alone"] as const;
export const COUNTERS = ["calm", "new"] as const;
export const STATES: readonly State[] = ["watched", "read", "unread"];
export const CLIENTS: readonly Client[] = ["tally", "plain", "batch"];

/**
 * How a page ends. `hide` also closes it, a second later. `freeze` hides it and stops its scripts: Playwright keeps pages visible, and
 * Chromium freezes no visible page.
 */
const ENDS = {
  close: (page) => page.close(),
  closeWithHandlers: (page) => page.close({ runBeforeUnload: true }),
  navigate: async (page) => void (await page.goto("about:blank")),
  reload: async (page) => void (await page.reload()),
  async hide(page) {
    await hide(page);
    await sleep(1_000);
    await page.close();
  },
  async freeze(page) {
    const session = await page.context().newCDPSession(page);
    await session.send("Debugger.enable");
    await hide(page);
    await session.send("Debugger.pause");
  },
  async kill(page) {
    const crashed = page.waitForEvent("crash");
    const session = await page.context().newCDPSession(page);
    session.send("Page.crash").catch(() => {});
    await crashed;
  },
} as const satisfies Record<string, (page: Page) => Promise<void>>;
export type End = keyof typeof ENDS;
export const END_NAMES = Object.keys(ENDS) as End[];

/** One kind of page. */
export interface Scenario {
  readonly cache: (typeof CACHES)[number];
  /** The round trip to Firestore, in milliseconds. */
  readonly roundTrip: number;
  readonly counter: (typeof COUNTERS)[number];
  readonly state: State;
  readonly end: End;
  /** How long after the last call, in milliseconds. */
  readonly after: number;
  readonly views: number;
  readonly likes: boolean;
  readonly likeAfter: number;
  readonly idle: number;
}

/** What the server has of the writes of a page. */
export interface Kept {
  readonly views: number;
  readonly likes: number;
  readonly unlikes: number;
}

export const PARTS: readonly (keyof Kept)[] = ["views", "likes", "unlikes"];

export interface Outcome {
  readonly kept: Kept;
  /** After the next visit of the app, whose storage is on disk. */
  readonly keptLater: Kept | undefined;
  /** How long after the last call the page was told of its end, in milliseconds; `NaN` if it was not told. */
  readonly endedAfter: number;
}

const PROJECT = "demo-closing";
const UID = "user";
const RULES = OPEN_RULES.replace(
  /(match \/databases\/\{database\}\/documents \{\n)/,
  "$1    match /plain/{path=**} { allow read, write: if request.auth != null; }\n",
);

/** How long the server, or another tab, may take to have what was sent or stored before the end. */
const DELIVERY_MS = 3_000;
/** How long the next visit may take: a tab that was killed holds the lease of the app's queue for five seconds, and may be noticed four later. */
const NEXT_VISIT_MS = 12_000;
/** A page is idle by then. */
const SETTLE_MS = 150;

/** Opens a page, has it write and ends it. Resolves at the end, to a function that returns what became of the writes. */
export type RunPage = (scenario: Scenario, client: Client) => Promise<() => Promise<Outcome>>;

/** Starts a browser for the pages, and ends it afterwards. The emulators run, and are named in the environment. */
export async function withPages<Result>(firestore: string, use: (run: RunPage) => Promise<Result>): Promise<Result> {
  await loadRules(PROJECT, RULES);
  const db = new Firestore({ projectId: PROJECT });
  const profile = mkdtempSync(join(tmpdir(), "tally-closing-"));
  const site: Site = await startSite(new URL("./pages/", import.meta.url));
  const context = await chromium.launchPersistentContext(profile, {
    ...(await findChromium()),
    args: CHROMIUM_ARGUMENTS,
  });
  const address = await site.address("closing");
  const otherTab = await context.newPage();
  await otherTab.goto(address);
  let pages = 0;

  /** @returns the time that the function of the page tells, if it tells one */
  const call = (page: Page, name: "open" | "prepare" | "write" | "close" | "remove", visit: Visit) =>
    page.evaluate<number, readonly [typeof name, Visit]>(
      async ([name, visit]) => Number(await window.closing[name](visit)),
      [name, visit],
    );

  /** The counters, as the functions publish them; of new ones, there is the like that is undone. */
  async function createCounters({ name, client }: Visit, isNew: boolean): Promise<void> {
    const batch = db.batch();
    const at = Timestamp.now();
    if (client === "plain") {
      for (const id of isNew ? ["un"] : ["views", "likes", "un"])
        batch.set(db.doc(`plain/${id}-${name}`), { total: 1 });
      batch.set(db.doc(`plain/un-${name}/entries/${UID}`), { at });
    } else {
      const published = { total: 1, rate: 0, shardCount: 1, writes: 1, publishes: 1, asOf: at, growing: false };
      const direct = { open: true, generation: 1, count: 0, writes: 0 };
      for (const id of [`views:${name}`, `likes:${name}`, `likes:un-${name}`]) {
        if (!isNew) batch.set(db.doc(`counters/${id}`), { ...published, direct });
        if (!isNew || id.startsWith("likes:un-"))
          batch.set(db.doc(`counters/${id}/shards/0`), { shard: "0", count: 1, writes: 1, at });
      }
      batch.set(db.doc(`counters/likes:un-${name}/tallyEntries/${UID}`), { once: UID, by: 1, shard: "0", at });
    }
    await batch.commit();
  }

  async function readKept({ name, client }: Visit, isNew: boolean): Promise<Kept> {
    const totalOf = async (id: string): Promise<number> => {
      if (client === "plain") return (await db.doc(`plain/${id}-${name}`).get()).get("total") ?? 0;
      const document = db.doc(`counters/${id === "un" ? "likes:un-" : `${id}:`}${name}`);
      const [counter, shards] = await Promise.all([document.get(), document.collection("shards").get()]);
      const direct: number = counter.get("direct.count") ?? 0;
      return shards.docs.reduce((sum, shard) => sum + shard.get("count"), direct);
    };
    const [views = 0, likes = 0, unlikes = 0] = await Promise.all(["views", "likes", "un"].map(totalOf));
    const before = isNew ? 0 : 1;
    return { views: views - before, likes: likes - before, unlikes: 1 - unlikes };
  }

  const run: RunPage = async (scenario, client) => {
    const { cache, roundTrip, counter, state, end, after, views, likes, likeAfter, idle } = scenario;
    const proxies: { close(): Promise<void> }[] = [];
    // One for each connection of the app, because Chromium opens six connections to an address.
    const connect = async () => {
      const proxy = await delayingProxy(firestore, Math.max(roundTrip / 2, 1));
      proxies.push(proxy);
      return proxy.address;
    };
    const visit: Visit = {
      ...{ name: `${client}-${pages++}`, project: PROJECT, uid: UID, firestore: await connect() },
      ...{ isPersistent: cache !== "memory", client, state, views, likes, likeAfter, idle },
    };
    const isNew = counter === "new";
    const all = written(scenario, client);
    await createCounters(visit, isNew);
    if (cache === "shared") await call(otherTab, "open", { ...visit, firestore: await connect() });
    const page = await context.newPage();
    await page.goto(address);
    await call(page, "prepare", visit);
    await sleep(SETTLE_MS);
    const calledAt = await call(page, "write", visit);
    await sleep(Math.max(calledAt + after - Date.now(), 0));
    await ENDS[end](page);
    if (end === "reload" && visit.isPersistent) await call(page, "open", visit);
    return async () => {
      const readUntilAll = async (timeoutMs: number) => {
        const deadline = Date.now() + timeoutMs;
        for (;;) {
          const kept = await readKept(visit, isNew);
          if (Date.now() > deadline || PARTS.every((part) => kept[part] >= all[part])) return kept;
          await sleep(1_000);
        }
      };
      const kept = await readUntilAll(DELIVERY_MS);
      await page.close();
      let keptLater: Kept | undefined;
      if (visit.isPersistent) {
        // The other tab has the acknowledgements, too.
        await sleep(3 * roundTrip);
        if (cache === "shared") await call(otherTab, "close", visit);
        await call(otherTab, "open", { ...visit, firestore: await connect() });
        keptLater = await readUntilAll(NEXT_VISIT_MS);
      }
      const endedAt = await call(otherTab, "remove", visit);
      for (const proxy of proxies) await proxy.close();
      return { kept, keptLater, endedAfter: endedAt - calledAt };
    };
  };
  try {
    return await use(run);
  } finally {
    await context.close();
    await site.close();
    await db.terminate();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What a page writes. */
export function written({ views, likes }: Scenario, client: Client): Kept {
  const each = likes ? 1 : 0;
  return { views, likes: each, unlikes: client === "batch" ? 0 : each };
}

/** As the browser does when the user goes to another tab or app. */
async function hide(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { value: true });
    document.dispatchEvent(new Event("visibilitychange"));
  });
}
