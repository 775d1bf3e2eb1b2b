/** A client of several regions: it counts in the nearest one that answers, and counts nothing twice. */
import { setTimeout as sleep } from "node:timers/promises";
import { deleteApp, type FirebaseApp, initializeApp } from "firebase/app";
import { connectFirestoreEmulator, doc, type Firestore, getDocFromServer, getFirestore } from "firebase/firestore";
import { getApp } from "firebase-admin/app";
import { getFirestore as getAdminFirestore, Timestamp } from "firebase-admin/firestore";
import {
  connectRegions,
  type GlobalCounterSnapshot,
  globalCounter,
  incrementCounter,
  incrementGlobalCounter,
  onGlobalCounter,
  regionalCounter,
} from "firestore-tally";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type CuttingProxy, cuttingProxy, delayingProxy } from "../../testkit/tcpProxy.ts";
import { until } from "../../testkit/until.ts";
import "../../testkit/clients.ts";

const firestoreHost = process.env.FIRESTORE_EMULATOR_HOST as string;

/** Milliseconds each way from the client to a region. Far apart, so that no stall of a busy machine changes their order. */
const LATENCY = { asia: 400, us: 100, eu: 5 };
type Name = keyof typeof LATENCY;
const NAMES = Object.keys(LATENCY) as Name[];

interface World {
  readonly databases: Record<Name, Firestore>;
  /** The network between the client and a region. */
  readonly network: Record<Name, CuttingProxy>;
}

const apps: FirebaseApp[] = [];
const proxies: { close(): Promise<void> }[] = [];
// The emulator's first answer of a database takes longer, because it loads the rules.
beforeAll(async () => {
  const { databases } = await startWorld();
  await Promise.all(NAMES.map((name) => getDocFromServer(doc(databases[name], "counters/views:first"))));
});
afterAll(async () => {
  await Promise.all(apps.map(deleteApp));
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

async function startWorld(): Promise<World> {
  const network = {} as Record<Name, CuttingProxy>;
  const databases = {} as Record<Name, Firestore>;
  const app = initializeApp(
    { projectId: process.env.GCLOUD_PROJECT as string, apiKey: "any" },
    `world${Math.random()}`,
  );
  apps.push(app);
  for (const name of NAMES) {
    const delayed = await delayingProxy(firestoreHost, LATENCY[name]);
    network[name] = await cuttingProxy(delayed.address);
    proxies.push(delayed, network[name]);
    databases[name] = getFirestore(app, `region-${name}`);
    const [host = "", port] = network[name].address.split(":");
    connectFirestoreEmulator(databases[name], host, Number(port));
  }
  return { databases, network };
}

const admin = (name: Name) => getAdminFirestore(getApp(), `region-${name}`);
const newId = () => `views:${Math.random().toString(36).slice(2)}`;
async function countedIn(name: Name, id: string): Promise<number> {
  const { docs } = await admin(name).collection(`counters/${id}/shards`).get();
  return docs.reduce((sum, shard) => sum + shard.get("count"), 0);
}
const register = (total: number, seconds: number) => ({ total, asOf: new Timestamp(seconds, 0), windows: null });

describe("a client of several regions", () => {
  test("counts in the nearest one", async () => {
    const { databases } = await startWorld();
    const regions = connectRegions(databases);
    const id = newId();
    expect(regions.current).toBeUndefined();
    await incrementGlobalCounter(globalCounter(regions, id));
    expect(regions.current).toBe("eu");
    expect(await countedIn("eu", id)).toBe(1);
    await incrementCounter(regionalCounter(globalCounter(regions, id), "asia"));
    expect(await countedIn("asia", id)).toBe(1);
  });

  test("counts in another one while the nearest does not answer, and each increment once", async () => {
    const { databases, network } = await startWorld();
    const regions = connectRegions(databases, { timeout: 1_500 });
    const id = newId();
    const views = globalCounter(regions, id);
    await incrementGlobalCounter(views);
    const heal = isolate(network.eu);
    const waiting = incrementGlobalCounter(views);
    await until(async () => regions.current === "us", "another region");
    await incrementGlobalCounter(views);
    expect(await countedIn("us", id)).toBe(1);
    heal();
    await waiting;
    expect([await countedIn("eu", id), await countedIn("us", id), await countedIn("asia", id)]).toEqual([2, 1, 0]);
  });

  test("shows the sum of all with its own increments, and never steps back when it changes the region", async () => {
    const { databases, network } = await startWorld();
    const regions = connectRegions(databases, { timeout: 1_500 });
    const id = newId();
    const at = (name: Name) => admin(name).doc(`counters/${id}`);
    await at("eu").set({
      ...register(10, 1_000),
      globalTotal: 35,
      regions: { us: register(20, 900), asia: register(5, 1) },
    });
    // It has not heard of the last two of Europe, and is ahead itself.
    await at("us").set({
      ...register(22, 950),
      globalTotal: 35,
      regions: { eu: register(8, 800), asia: register(5, 1) },
    });
    const views = globalCounter(regions, id);
    const seen: GlobalCounterSnapshot[] = [];
    const stop = onGlobalCounter(views, (snapshot) => seen.push(snapshot));
    const shown = (total: number) => until(async () => seen.at(-1)?.total === total, `a total of ${total}`);
    await shown(35);
    await incrementGlobalCounter(views);
    await shown(36);
    const heal = isolate(network.eu);
    const waiting = incrementGlobalCounter(views);
    await until(async () => seen.at(-1)?.region === "us", "totals of another region");
    await shown(39);
    expect(seen.at(-1)?.pending).toBe(true);
    expect(seen.at(-1)?.asOf).toMatchObject({ eu: { seconds: 1_000 }, us: { seconds: 950 }, asia: { seconds: 1 } });
    await incrementGlobalCounter(views);
    await shown(40);
    heal();
    await waiting;
    await until(async () => seen.at(-1)?.pending === false, "all to be acknowledged");
    const totals = seen.map(({ total }) => total);
    expect(totals).toEqual([...totals].sort((a, b) => a - b));
    expect(totals.at(-1)).toBe(40);
    stop();
  });

  test("refuses a region that it has not, and no databases", async () => {
    const { databases } = await startWorld();
    const invalid = expect.objectContaining({ code: "counter/invalid-option" });
    expect(() => regionalCounter(globalCounter(connectRegions(databases), "views:x"), "mars")).toThrow(invalid);
    expect(() => connectRegions({})).toThrow(invalid);
  });
});

test("a client of several regions returns to the nearest, also if that did not answer at first, and if the page only watches", async () => {
  const set = setTimeout;
  const sooner = (run: () => void, ms?: number, ...rest: []) => set(run, ms === 60_000 ? 1_000 : ms, ...rest);
  vi.spyOn(globalThis, "setTimeout").mockImplementation(sooner as typeof setTimeout);
  onTestFinished(() => void vi.restoreAllMocks());
  const { databases, network } = await startWorld();
  const { eu, us, asia } = databases;
  const regions = connectRegions({ eu, us, asia }, { timeout: 500 });
  const heal = isolate(network.eu);
  const healOthers = [isolate(network.us), isolate(network.asia)];
  const stop = onGlobalCounter(globalCounter(regions, newId()), () => {});
  await sleep(700);
  for (const one of healOthers) one();
  await until(async () => regions.current !== undefined, "another region");
  expect(regions.current).not.toBe("eu");
  heal();
  await until(async () => regions.current === "eu", "the nearest");
  stop();
});

/** Cuts a region off: what is sent there gets no answer. @returns a function that ends it */
function isolate(network: CuttingProxy): () => void {
  network.withhold();
  const timer = setInterval(() => network.withhold(), 5);
  return () => {
    clearInterval(timer);
    network.cut();
  };
}
