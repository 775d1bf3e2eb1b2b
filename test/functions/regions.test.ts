/** Several databases that count one counter. What events, faults, and regions that come and go do to it is in `test/simulation`. */
import { getApp } from "firebase-admin/app";
import { FieldValue, type Firestore, getFirestore, Timestamp } from "firebase-admin/firestore";
import { logger } from "firebase-functions";
import { describe, expect, test, vi } from "vitest";
import { Sketch, visitorHash } from "../../core/src/index.ts";
import type { Backend } from "../../functions/src/counter/backend.ts";
import type { CounterTask } from "../../functions/src/counter/cause.ts";
import { toMillis } from "../../functions/src/counter/time.ts";
import { createWakeHandler } from "../../functions/src/counter/wake.ts";
import { runSweep } from "../../functions/src/deploy/runSweep.ts";
import { runTask } from "../../functions/src/deploy/runTask.ts";
import type { OtherRegion } from "../../functions/src/features/regions/connect.ts";
import { runExchange } from "../../functions/src/features/regions/exchange.ts";
import { parseRegions, type Regions } from "../../functions/src/features/regions/parseRegions.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import "../../testkit/clients.ts";

const NAMES = ["us", "eu", "asia"];
const REGIONS = NAMES.map((name) => `${name}=region-${name}`).join();
const ID = "likes:global";

interface RegionBackend extends Backend {
  readonly tasks: CounterTask[];
  readonly wake: ReturnType<typeof createWakeHandler>;
}

/** A backend for each region, which count the same new counter. */
function startRegions(names = NAMES, regions = REGIONS): Map<string, RegionBackend> {
  const collection = `regions${Math.random().toString(36).slice(2)}`;
  const databases = new Map<string, Firestore>(names.map((name) => [name, getFirestore(getApp(), `region-${name}`)]));
  return new Map(
    names.map((name) => {
      const config = {
        collection,
        minInterval: 50,
        regions: { ...(parseRegions(regions, `region-${name}`) as Regions), exchangeInterval: 100 },
      };
      const { backend, tasks } = inProcessBackend(config, databases.get(name));
      const others = names.filter((other) => other !== name);
      const otherRegions = new Map(
        others.map((other) => [other, reachable((databases.get(other) as Firestore).collection(collection))]),
      );
      const connected = { ...backend, connections: { regions: otherRegions } };
      return [name, { ...connected, tasks, wake: createWakeHandler(connected) }];
    }),
  );
}

/** Writes an increment as a server does, and delivers its event. */
async function increment(region: RegionBackend, by = 1, shard = "0"): Promise<void> {
  const ref = region.counters.doc(`${ID}/shards/${shard}`);
  const isNew = !(await ref.get()).exists;
  const { writeTime } = await ref.set(
    { shard, count: FieldValue.increment(by), writes: FieldValue.increment(1) },
    { merge: true },
  );
  await region.wake({ counterId: ID, shardId: shard, isNew, committedAt: toMillis(writeTime) });
}

/** Another attempt to reach a region, as if it were due by now. Publishes rely on the time of other exchanges. */
const dueNow = (task: CounterTask): CounterTask => (task.failingSince === undefined ? task : { ...task, due: 0 });

/** Runs tasks until there are none, in all regions. */
async function runAll(regions: Map<string, RegionBackend>): Promise<void> {
  const all = [...regions.values()];
  while (all.some(({ tasks }) => tasks.length > 0)) {
    await Promise.all(
      all.map(async (region) => {
        for (let task = region.tasks.shift(); task; task = region.tasks.shift()) await runTask(region, dueNow(task));
      }),
    );
  }
}

async function shown(region: RegionBackend) {
  const document = await region.counters.doc(ID).get();
  const missing = NAMES.filter((name) => document.get(`regions.${name}`) === null);
  return { total: document.get("total"), globalTotal: document.get("globalTotal"), missing };
}

const get = (regions: Map<string, RegionBackend>, name: string) => regions.get(name) as RegionBackend;

describe("regions", () => {
  test("I14: show the sum of all, and which have not been heard", async () => {
    const regions = startRegions();
    await increment(get(regions, "us"), 3);
    await increment(get(regions, "eu"), 4);
    expect(await shown(get(regions, "us"))).toEqual({ total: 3, globalTotal: 3, missing: ["eu", "asia"] });
    await runAll(regions);
    expect(await shown(get(regions, "us"))).toEqual({ total: 3, globalTotal: 7, missing: ["asia"] });
    expect(await shown(get(regions, "eu"))).toEqual({ total: 4, globalTotal: 7, missing: ["asia"] });
    expect(await shown(get(regions, "asia"))).toEqual({ total: undefined, globalTotal: 7, missing: [] });
    await increment(get(regions, "asia"), 5);
    await runAll(regions);
    for (const region of regions.values()) expect(await shown(region)).toMatchObject({ globalTotal: 12, missing: [] });
  });

  test("exchange nothing for a counter that has not changed, and write nothing that is no news", async () => {
    const regions = startRegions();
    const us = get(regions, "us");
    await increment(us);
    expect(us.tasks.filter(({ kind }) => kind === "exchange")).toHaveLength(1);
    const [task] = us.tasks.filter(({ kind }) => kind === "exchange") as [CounterTask];
    await runAll(regions);
    const before = await get(regions, "eu").counters.doc(ID).get();
    await runExchange(us, task);
    expect((await get(regions, "eu").counters.doc(ID).get()).updateTime).toEqual(before.updateTime);
    // A poll that finds nothing.
    await runTask(us, { counterId: ID, due: Date.now(), kind: "poll" });
    expect(us.tasks.filter(({ kind }) => kind === "exchange")).toEqual([]);
  });

  test("that cannot be reached are named, tried again, and get what was counted meanwhile", async () => {
    const regions = startRegions();
    const us = get(regions, "us");
    const document = us.counters.doc(ID);
    let tries = 0;
    const onTry = () => tries++;
    const isolated = unreachable(us, onTry);
    const cut = () => ({
      ...us,
      connections: { regions: new Map([...(us.connections.regions ?? []), ["eu", reachable(isolated)]]) },
    });
    await increment(us);
    const [first] = us.tasks.splice(0) as [CounterTask];
    await runExchange(cut(), first);
    expect(tries).toBe(1);
    const [attempt] = us.tasks.splice(0) as [CounterTask];
    expect(attempt).toMatchObject({ kind: "exchange", failingSince: expect.any(Number) });
    expect((await document.get()).get("unreachable")).toBeUndefined();
    expect(await shown(get(regions, "asia"))).toMatchObject({ globalTotal: 1 });
    await runExchange(cut(), dueNow(attempt));
    expect(tries).toBe(2);
    expect(Object.keys((await document.get()).get("unreachable"))).toEqual(["eu"]);

    // The next exchange leaves the region to the attempts, and makes sure that there is one.
    await increment(us, 2);
    const isRetry = ({ failingSince }: CounterTask) => failingSince !== undefined;
    const [second] = us.tasks.filter((task) => task.kind === "exchange" && !isRetry(task)) as [CounterTask];
    us.tasks.splice(us.tasks.indexOf(second), 1);
    await runExchange(cut(), second);
    expect(tries).toBe(2);
    expect(await shown(get(regions, "asia"))).toMatchObject({ globalTotal: 3 });
    expect(us.tasks.some(isRetry)).toBe(true);

    await runAll(regions);
    expect(await shown(get(regions, "eu"))).toMatchObject({ globalTotal: 3 });
    expect((await document.get()).get("unreachable")).toBeUndefined();
  });

  test("get what is published while an attempt succeeds", async () => {
    const regions = startRegions();
    const [us, eu] = [get(regions, "us"), get(regions, "eu")];
    await increment(us);
    await us.counters.doc(ID).update({ unreachable: { eu: Timestamp.now() } });
    us.tasks.splice(0);
    let published = false;
    const ref = eu.counters.doc(ID);
    // Another publish, whose exchange leaves the region to the attempts.
    const readMeanwhile = async () => {
      const document = await ref.get();
      if (published) return document;
      published = true;
      await increment(us, 5);
      for (const task of us.tasks.splice(0)) await runTask(us, task);
      return document;
    };
    const doc = () => Object.assign(Object.create(ref), { get: readMeanwhile });
    const slow = reachable(Object.assign(Object.create(eu.counters), { doc }));
    const attempt = { counterId: ID, due: 0, kind: "exchange", failingSince: Date.now() } as const;
    await runExchange({ ...us, connections: { regions: new Map([["eu", slow]]) } }, attempt);
    expect(await shown(eu)).toMatchObject({ globalTotal: 6 });
    expect((await us.counters.doc(ID).get()).get("unreachable")).toBeUndefined();
  });

  test("get each other's totals by way of a third", async () => {
    const regions = startRegions();
    const [us, eu] = [get(regions, "us"), get(regions, "eu")];
    const cut = { ...us, connections: { regions: new Map([["eu", reachable(eu.counters)]]) } };
    await increment(us, 3);
    for (const task of us.tasks.splice(0)) await runExchange(cut, task);
    await increment(eu, 4);
    for (const task of eu.tasks.splice(0)) await runTask(eu, task);
    expect(await shown(get(regions, "asia"))).toMatchObject({ globalTotal: 7, missing: [] });
  });

  test("that were restored from a backup keep the later register of theirs that others know of", async () => {
    const regions = startRegions();
    const [us, eu] = [get(regions, "us"), get(regions, "eu")];
    await increment(us, 3);
    await runAll(regions);
    const backup = (await us.counters.doc(ID).get()).data() as object;
    await increment(us, 4);
    await runAll(regions);
    await us.counters.doc(ID).set(backup);
    await runExchange(us, { counterId: ID, due: 0, kind: "exchange" });
    expect(await shown(eu)).toMatchObject({ globalTotal: 7 });
  });

  test("count a user who has visited two of them once", async () => {
    const regions = startRegions();
    const [us, eu] = [get(regions, "us"), get(regions, "eu")];
    const visited = async (region: RegionBackend, ...visitors: string[]) => {
      const sketch = new Sketch();
      for (const visitor of visitors) sketch.add(await visitorHash(visitor));
      const { format, bytes } = sketch.serialize();
      const counter = region.counters.doc(ID);
      const uniques = visitors.length;
      await counter.firestore
        .batch()
        .set(counter.collection("tallySketches").doc("uniques"), {
          format,
          bytes: Buffer.from(bytes),
          asOf: Timestamp.now(),
        })
        .set(counter, { uniques }, { merge: true })
        .commit();
    };
    const exchange = (region: RegionBackend) =>
      runExchange(region, { counterId: ID, due: 0, kind: "exchangeVisitors" });
    const uniquesIn = async (region: RegionBackend) => (await region.counters.doc(ID).get()).get("globalUniques");
    await visited(us, "ada", "bob");
    await exchange(us);
    await visited(eu, "bob", "cid");
    await exchange(eu);
    for (const region of regions.values()) expect(await uniquesIn(region)).toBe(3);
    await visited(us, "ada", "bob", "dan");
    await Promise.all([exchange(us), exchange(eu), exchange(us)]);
    for (const region of regions.values()) expect(await uniquesIn(region)).toBe(4);
  });

  test("get what they lack by a sweep, if the task of an exchange is lost, and nothing that is not due", async () => {
    const log = vi.spyOn(logger, "warn").mockReturnValue();
    const regions = startRegions();
    const [us, eu] = [get(regions, "us"), get(regions, "eu")];
    const later = { ...us, now: () => Date.now() + 90_000 };
    await increment(us, 3);
    us.tasks.splice(0);
    await runSweep(us);
    expect(us.tasks).toEqual([]);
    await runSweep(later);
    expect(us.tasks.map(({ kind }) => kind)).toEqual(["exchange"]);
    // The tasks of the later clock are due by now.
    for (const task of us.tasks.splice(0)) await runTask(us, { ...task, due: 0 });
    for (const name of ["eu", "asia"]) expect(await shown(get(regions, name))).toMatchObject({ globalTotal: 3 });

    await us.counters
      .doc(ID)
      .collection("tallyVisitors")
      .doc("a")
      .set({ visitors: [await visitorHash("ada")] });
    await runTask(us, { counterId: ID, due: 0, kind: "mergeVisitors" });
    us.tasks.splice(0);
    await runSweep(later);
    expect(us.tasks.map(({ kind }) => kind)).toEqual(["exchangeVisitors"]);
    for (const task of us.tasks.splice(0)) await runTask(us, { ...task, due: 0 });
    expect((await eu.counters.doc(ID).get()).get("globalUniques")).toBe(1);
    await runSweep(later);
    expect(us.tasks).toEqual([]);
    expect(log).toHaveBeenCalledTimes(2);
    log.mockRestore();
  });

  test("of one deployment alone add nothing to the counter document", async () => {
    const { backend } = inProcessBackend();
    const alone = { ...backend, tasks: [], wake: createWakeHandler(backend) };
    await increment(alone);
    const fields = Object.keys((await backend.counters.doc(ID).get()).data() as object);
    expect(fields.filter((field) => /global|region|exchange|unreachable/i.test(field))).toEqual([]);
  });
});

function reachable(counters: Backend["counters"]): OtherRegion {
  return { counters, isFailing: false, pausedUntil: 0, trial: undefined };
}

/** A collection of a database that never answers. */
function unreachable({ counters }: Backend, onTry: () => void): Backend["counters"] {
  const get = () => {
    onTry();
    return Promise.reject(Object.assign(new Error("unavailable"), { code: 14 }));
  };
  const doc = () => ({ get });
  return Object.assign(Object.create(counters), { doc });
}
