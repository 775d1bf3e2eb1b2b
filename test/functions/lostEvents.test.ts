/** What events leave that are never delivered, in collections that trigger no function: the sweep handles it. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { logger } from "firebase-functions";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  ItemSummary,
  itemCountsPath,
  parseMirrors,
  topItemsPath,
  uniquesPath,
  VISITORS,
} from "../../core/src/index.ts";
import type { Backend } from "../../functions/src/counter/backend.ts";
import { runSweep } from "../../functions/src/deploy/runSweep.ts";
import { addToOutbox, type LogRecord } from "../../functions/src/features/eventLog/outbox.ts";
import { handleLost } from "../../functions/src/shared/handleLost.ts";
import { admin } from "../../testkit/clients.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { legacyNodeClient } from "../../testkit/legacy/clients.ts";
import { metered } from "../../testkit/metered.ts";

const ID = "views:home";
const HASH = "0123456789abcdef";

/** A backend in whose eyes what was written just now has waited for minutes. */
function backendLater(...args: Parameters<typeof inProcessBackend>) {
  const { backend } = inProcessBackend(...args);
  return { ...backend, now: () => Date.now() + 300_000 };
}
type Later = ReturnType<typeof backendLater>;

const bucketOf = ({ counters }: Later, id = ID) => admin.doc(`${uniquesPath(counters.doc(id).path)}/${HASH[0]}`);
const visit = (backend: Later, id = ID) => bucketOf(backend, id).set({ visitors: [HASH] });

async function leaveItems({ counters }: Later): Promise<void> {
  const summary = new ItemSummary();
  summary.add("shoes", 3);
  await admin.collection(itemCountsPath(counters.doc(ID).path)).add({ bytes: Buffer.from(summary.serialize()) });
}

async function leaveRecords({ config }: Later): Promise<void> {
  const batch = admin.batch();
  const event = { index: 0, id: undefined, counter: ID, by: 2, visitor: undefined, item: undefined, at: undefined };
  addToOutbox(batch, admin, config.collection, [event]);
  await batch.commit();
}

const sizeOf = async (path: string) => (await admin.collection(path).count().get()).data().count;

afterEach(() => vi.restoreAllMocks());

describe("the sweep", () => {
  test("merges visitors and items, publishes records and moves legacy shards that lost events have left", async () => {
    const log = vi.spyOn(logger, "warn").mockReturnValue();
    const pages = `pages${randomUUID()}`;
    const backend = backendLater({ mirrors: parseMirrors(`visits=${pages}/{name}.visits`, "BRIDGE") });
    const counter = backend.counters.doc(ID);
    await visit(backend);
    await leaveItems(backend);
    await leaveRecords(backend);
    await legacyNodeClient(admin).increment({ document: `${pages}/home`, field: "visits", by: 5 });
    const published: LogRecord[] = [];

    await runSweep({ ...backend, connections: { eventLog: async (records) => void published.push(...records) } });

    expect((await counter.get()).get("uniques")).toBe(1);
    expect((await admin.doc(topItemsPath(counter.path)).get()).get("total")).toBe(3);
    expect(published).toMatchObject([{ counter: ID, by: 2 }]);
    expect((await backend.counters.doc("visits:home/shards/base").get()).get("count")).toBe(5);
    expect((await admin.doc(`${pages}/home`).get()).get("visits")).toBe(5);
    const emptied = ["tallyVisitors", "tallyItemCounts", "tallyOutbox"].map((name) => `${counter.path}/${name}`);
    for (const path of [...emptied, `${pages}/home/_counter_shards_`]) expect(await sizeOf(path)).toBe(0);
    expect(log).toHaveBeenCalledTimes(4);
  });

  test("deletes the hashes of visitors that clients have left where none are counted", async () => {
    const backend = backendLater({ visitors: "no" });
    for (const id of [ID, "views:other"]) await visit(backend, id);
    const nextHour = (Math.ceil(Date.now() / 3_600_000) + 1) * 3_600_000;
    for (const now of [nextHour - 1, nextHour + 300_000]) await runSweep({ ...backend, now: () => now });
    expect((await bucketOf(backend).get()).exists).toBe(true);
    await runSweep({ ...backend, now: () => nextHour });
    for (const id of [ID, "views:other"]) expect((await bucketOf(backend, id).get()).exists).toBe(false);
  });

  test("leaves alone what has an event that will come, is of another collection, or is not named in BRIDGE", async () => {
    const pages = `pages${randomUUID()}`;
    const changes = { mirrors: parseMirrors(`visits=${pages}/{name}.visits`, "BRIDGE") };
    const [backend, other] = [backendLater(changes), backendLater()];
    const publish = vi.fn();
    for (const one of [backend, other]) {
      await visit(one);
      await leaveRecords(one);
    }
    await legacyNodeClient(admin).increment({ document: `${pages}/home`, field: "stars", by: 5 });
    const connections = { eventLog: publish };
    await runSweep({ ...backend, connections, now: Date.now });
    await runSweep({ ...backendLater(changes), connections });
    for (const one of [backend, other]) expect((await bucketOf(one).get()).exists).toBe(true);
    expect(await sizeOf(`${pages}/home/_counter_shards_`)).toBe(1);
    expect(publish).not.toHaveBeenCalled();
  });

  test("reads once per feature that is on, and once per counter where something waits", async () => {
    const { firestore, usedBy, close } = await metered();
    const mirrors = parseMirrors(`visits=pages${randomUUID()}/{name}.visits`, "BRIDGE");
    const costOf = async (backend: Later, connections: Backend["connections"] = {}) => {
      const { reads } = await usedBy(async () => {
        await runSweep({ ...backend, connections });
        // The SDK has its answer a moment before the meter counts the call.
        await sleep(200);
      });
      return reads;
    };
    const idle = backendLater({ visitors: "no", items: false }, firestore);
    expect(await costOf({ ...idle, now: () => 3_600_000 - 1 })).toBe(2);
    expect(await costOf({ ...idle, now: () => 3_600_000 })).toBe(3);
    const backend = backendLater({ mirrors }, firestore);
    expect(await costOf(backend, { eventLog: async () => {} })).toBe(6);
    for (const id of ["views:a", "views:b"])
      for (const bucket of ["0", "1", "f"])
        await admin.doc(`${uniquesPath(backend.counters.doc(id).path)}/${bucket}`).set({ visitors: [HASH] });
    expect(await costOf({ ...backend, now: Date.now })).toBe(5 + 2);
    await close();
  });

  test("handles the other counters when some fail, and does not look at the same ones of very many each time", async () => {
    vi.spyOn(logger, "warn").mockReturnValue();
    const log = vi.spyOn(logger, "write").mockReturnValue();
    const backend = backendLater();
    const ids = Array.from({ length: 130 }, (_, n) => `views:page${String(n).padStart(3, "0")}`);
    await Promise.all(ids.map((id) => visit(backend, id)));
    const [failing, others] = [new Set(ids.slice(0, 100)), ids.slice(100)];
    const handled = new Set<string>();
    const handle = async ({ id }: { id: string }) => {
      if (failing.has(id)) throw new Error("refused");
      handled.add(id);
      return true;
    };
    for (let sweeps = 0; sweeps < 30 && handled.size < others.length; sweeps++)
      await handleLost(backend, backend.counters, VISITORS, handle);
    expect([...handled].sort()).toEqual(others);
    expect(log).toHaveBeenCalledWith(expect.objectContaining({ severity: "ERROR", error: "Error: refused" }));
  });
});
