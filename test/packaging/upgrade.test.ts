/**
 * The upgrade of docs/upgrade.md: extension and kit on the same database for a while, under load, until the extension is removed. Each
 * write triggers both. The functions of the extension run in a process of their own, which is killed, and no event reaches them
 * afterwards. The polls that they had scheduled are lost with them, as those of an extension's task queue are.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toMillis } from "../../functions/src/counter/time.ts";
import { type Emulators, startEmulators } from "../../testkit/emulators/emulators.ts";
import { createProject, type Project } from "../../testkit/emulators/project.ts";
import { type SeparateFunctions, startSeparateFunctions } from "../../testkit/emulators/separateFunctions.ts";
import { type Meter, startMeter } from "../../testkit/meter.ts";
import { until } from "../../testkit/until.ts";
import type { PublishMonitor } from "../faults/publishMonitor.ts";
import { type EventRouter, startEventRouter } from "./eventRouter.ts";

const [EXTENSION, KIT] = ["ext-tally-", "kit-main-"] as const;
/** How far the emulator's snapshots may lag behind its commits: see functions/src/deploy/createBackend.ts. */
const SNAPSHOT_LAG = 50;
/** Seconds of load before the extension is removed, and after it. */
const PHASE_SECONDS = 8;

let project: Project;
let extension: SeparateFunctions;
let suite: Emulators;
let router: EventRouter;
const meters: Partial<Record<typeof EXTENSION | typeof KIT, Meter>> = {};

beforeAll(async () => {
  project = await createProject("extension+kit", {});
  extension = await startSeparateFunctions("extension", {});
  const { firestore = "", functions = "", tasks = "" } = project.addresses;
  router = await startEventRouter({ [EXTENSION]: extension.address, [KIT]: functions });
  const metered = async (name: typeof EXTENSION | typeof KIT) => {
    meters[name] = await startMeter(firestore);
    return meters[name].address;
  };
  const [started] = await Promise.all([
    startEmulators({
      ...{ packaging: "extension+kit", params: {}, project, eventsTo: router.address },
      functionsFirestore: () => metered(KIT),
    }),
    extension.start({ firestore: await metered(EXTENSION), tasks }),
  ]);
  suite = started;
  Object.assign(process.env, suite.env);
});
afterAll(async () => {
  await router?.stop();
  await extension?.stop();
  await suite?.stop();
  for (const meter of Object.values(meters)) meter.close();
});

test("from the extension to the kit without a gap: exact, forward, each total once, nothing left uncounted", async () => {
  // Imported late: they read the suite's addresses when they load.
  const { admin } = await import("../../testkit/clients.ts");
  const { logged, triggerSweep } = await import("../../testkit/deployedFunctions.ts");
  const { monitorPublishes } = await import("../faults/publishMonitor.ts");
  const { FieldValue } = await import("firebase-admin/firestore");
  const monitor: PublishMonitor = monitorPublishes();
  const commits = new Map<string, number[]>();

  /** One increment, as a server may write it: the answer tells the instant of the commit. */
  async function write(id: string, shards: readonly number[]): Promise<void> {
    const shard = `${shards[Math.floor(Math.random() * shards.length)]}`;
    const { increment } = FieldValue;
    const data = { shard, count: increment(1), writes: increment(1), at: FieldValue.serverTimestamp() };
    const { writeTime } = await admin.doc(`counters/${id}/shards/${shard}`).set(data, { merge: true });
    commits.set(id, [...(commits.get(id) ?? []), toMillis(writeTime)]);
  }
  /** Some counters of a kind, which take turns. */
  async function load(kind: string, counters: number, perSecond: number, shards: readonly number[]): Promise<void> {
    const written: Promise<void>[] = [];
    const start = performance.now();
    for (let n = 0; n < perSecond * PHASE_SECONDS; n++) {
      await sleep(Math.max(start + (n * 1_000) / perSecond - performance.now(), 0));
      written.push(write(`${kind}:${n % counters}`, shards));
    }
    await Promise.all(written);
  }
  const all = Array.from({ length: 20 }, (_, n) => n);
  const commonLoad = () => [
    load("hot", 1, 6, all),
    // Each write of these is published at once: both sets of functions try to.
    load("calm", 8, 2, [0]),
    // No write of these triggers a function after the first: they live by polls.
    load("silent", 4, 3, all.slice(1, 5)),
  ];
  const publishes = () => [...monitor.seen().values()].reduce((sum, states) => sum + states.length, 0);
  const used = () => {
    const of = (kind: "reads" | "writes", sets: Meter[]) => sets.reduce((sum, { usage }) => sum + usage[kind], 0);
    return {
      totals: publishes(),
      events: router.taken(),
      writes: of("writes", Object.values(meters)),
      reads: of("reads", Object.values(meters)),
      // Of the set that mostly came second.
      extraReads: Math.min(...Object.values(meters).map((meter) => of("reads", [meter]))),
    };
  };
  const between = (from: ReturnType<typeof used>, to: ReturnType<typeof used>) =>
    Object.fromEntries(Object.entries(to).map(([kind, count]) => [kind, count - from[kind as keyof typeof from]]));

  // Warm up: the emulator starts a process for each concurrent request.
  const warm = Array.from({ length: 8 }, (_, n) => `warmup:${n}`);
  for (let round = 1; round <= 3; round++) {
    await Promise.all(warm.map((id) => write(id, [0])));
    const arePublished = async () => {
      const counters = await admin.getAll(...warm.map((id) => admin.doc(`counters/${id}`)));
      return counters.every((counter) => counter.get("total") === round);
    };
    // The emulator sends an event some time after the write.
    await until(
      async () => (await arePublished()) && router.pending() === 0,
      "both sets of functions to start",
      90_000,
    );
  }
  const atStart = used();

  await Promise.all([...commonLoad(), load("left", 4, 3, all.slice(1, 5))]);
  await router.remove(EXTENSION);
  await extension.kill();
  const atRemoval = used();
  const removedAt = Date.now();

  await Promise.all(commonLoad());
  await until(() => publishes() > atRemoval.totals, "the kit alone to publish");
  const atEnd = used();

  const uncounted = async () => {
    const found: string[] = [];
    for (const [id, at] of commits) {
      if ((await admin.doc(`counters/${id}`).get()).get("total") !== at.length) found.push(id);
    }
    return found;
  };
  await sleep(3_000);
  const late = await uncounted();
  await until(
    async () => {
      await triggerSweep();
      await sleep(1_000);
      return (await uncounted()).length === 0;
    },
    "every total to be exact",
    120_000,
  );
  const exactAfter = Math.round((Date.now() - removedAt) / 1_000);
  await monitor.stop();

  const [sideBySide, alone] = [between(atStart, atRemoval), between(atRemoval, atEnd)];
  console.log(
    `${[...commits.values()].flat().length} increments; side by side ${JSON.stringify(sideBySide)}, then the kit alone ` +
      `${JSON.stringify(alone)}; after that ${late.length} of ${commits.size} totals wait for the sweep, which repaired ` +
      `${logged("repaired a counter whose poll was lost").length}; all exact ${exactAfter} s after the removal`,
  );

  expect(sideBySide.totals).toBeGreaterThan(0);
  // A publish that comes second writes nothing.
  expect(sideBySide.writes).toBe(sideBySide.totals);
  expect(monitor.violations()).toEqual([]);
  for (const [id, states] of monitor.seen()) {
    const at = commits.get(id) ?? [];
    for (const { asOf, sumOfShards } of states) {
      const committedUntil = (instant: number) => at.filter((commit) => commit <= instant).length;
      expect(sumOfShards, `${id} at ${asOf}`).toBeGreaterThanOrEqual(committedUntil(asOf - SNAPSHOT_LAG));
      expect(sumOfShards, `${id} at ${asOf}`).toBeLessThanOrEqual(committedUntil(asOf));
    }
    // Each publish was seen, and none made the number of another.
    expect(
      states.map(({ publishes: n }) => n),
      id,
    ).toEqual(states.map((_, n) => n + 1));
  }
});
