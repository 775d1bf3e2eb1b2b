/**
 * Documents that a client holds locked, by a read-write transaction that has read them. Any client can in a database that is
 * `PESSIMISTIC` (`test/rules/security.test.ts` "a transaction over REST locks the shards that it reads, in the emulator").
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { DocumentReference } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { parseMirrors } from "../../core/src/index.ts";
import type { CounterTask } from "../../functions/src/counter/cause.ts";
import { createWakeHandler } from "../../functions/src/counter/wake.ts";
import { runTask } from "../../functions/src/deploy/runTask.ts";
import { admin } from "../../testkit/clients.ts";
import { serveFunction } from "../../testkit/functionServer.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { sumOfIncrements } from "../../testkit/storedCounter.ts";

async function whileLocked(documents: readonly DocumentReference[], run: () => Promise<void>): Promise<void> {
  await admin.runTransaction(
    async (transaction) => {
      await transaction.getAll(...documents);
      await run();
    },
    { maxAttempts: 1 },
  );
}

describe("a client that holds documents locked", { tags: "deep", timeout: 60_000 }, () => {
  test("ends a publish of that counter after ten seconds, delays no other counter, and leaves a task for the next attempt", async () => {
    const { backend, tasks } = inProcessBackend();
    const counter = backend.counters.doc("views:locked");
    const shard = counter.collection("shards").doc("0");
    const wake = createWakeHandler(backend);
    const increment = async (count: number) => {
      const { writeTime } = await shard.set({ shard: "0", count, writes: count });
      return { counterId: counter.id, shardId: "0", isNew: count === 1, committedAt: writeTime.toMillis() };
    };
    await wake(await increment(1));
    // The next publish is due by then.
    await sleep(backend.config.maxInterval);
    const event = await increment(2);
    const beside = backend.counters.doc("views:beside");
    const first = await beside.collection("shards").doc("0").set({ shard: "0", count: 1, writes: 1 });
    await whileLocked([counter], async () => {
      const startedAt = performance.now();
      const locked = wake(event);
      await wake({ counterId: beside.id, shardId: "0", isNew: true, committedAt: first.writeTime.toMillis() });
      expect(performance.now() - startedAt, "another counter").toBeLessThan(1_000);
      await locked;
      expect(performance.now() - startedAt).toBeLessThan(20_000);
    });
    expect((await beside.get()).get("total")).toBe(1);
    const attempt = tasks.find(({ failingSince }) => failingSince !== undefined);
    expect(attempt).toMatchObject({ counterId: counter.id, kind: "followUp" });
    await runTask(backend, attempt as CounterTask);
    expect((await counter.get()).get("total")).toBe(2);
  });

  test("of a mirror delays one publish in five minutes, and the mirror follows", async () => {
    const mirror = admin.doc(`locked/${process.pid}`);
    await mirror.set({ views: 0 });
    const mirrors = parseMirrors("locked=locked/{name}.views", "MIRRORS");
    const { backend, tasks } = inProcessBackend({ mirrors });
    const counter = backend.counters.doc(`locked:${process.pid}`);
    const poll = async (count: number, failingSince?: number) => {
      await counter.collection("shards").doc("0").set({ shard: "0", count, writes: count });
      await sleep(backend.config.maxInterval);
      const startedAt = performance.now();
      const due = Date.now();
      await runTask(backend, { counterId: counter.id, due, kind: "followUp", ...(failingSince && { failingSince }) });
      return { took: performance.now() - startedAt, total: (await counter.get()).get("total") };
    };
    expect(await poll(1)).toMatchObject({ total: 1 });
    await whileLocked([mirror], async () => {
      expect(await poll(2), "the first attempt").toMatchObject({ total: 1 });
      expect(await poll(3, Date.now()), "the second, without the mirror").toMatchObject({ total: 3 });
      const third = await poll(4);
      expect(third).toMatchObject({ total: 4 });
      expect(third.took).toBeLessThan(5_000);
    });
    const [pausedUntil = 0] = backend.pausedUntil.values();
    expect(pausedUntil - Date.now()).toBeLessThanOrEqual(300_000);
    expect(tasks).toContainEqual({ counterId: counter.id, kind: "followUp", due: pausedUntil });
    expect((await mirror.get()).get("views")).toBe(1);
  });

  test("holds up ingest for seconds, and loses no event: not of its counter, and not of others", async () => {
    const ingest = await serveFunction("ingest", { INGEST_COUNTERS: "/views:.*/" });
    const send = async (counter: string) => {
      const response = await fetch(ingest.url, { method: "POST", body: JSON.stringify({ events: [{ counter }] }) });
      return response.status;
    };
    const counters = ["views:held", "views:beside"];
    try {
      expect(await Promise.all(counters.map(send))).toEqual([200, 200]);
      await whileLocked([admin.doc("counters/views:held/shards/0")], async () => {
        const startedAt = performance.now();
        expect(await Promise.all(counters.map(send))).toEqual([200, 200]);
        expect(performance.now() - startedAt).toBeLessThan(20_000);
      });
      // The SDK may send what was held back once more, now that the transaction has ended. It must not count twice.
      await sleep(10_000);
      expect(await Promise.all(counters.map(sumOfIncrements))).toEqual([2, 2]);
    } finally {
      await ingest.kill();
    }
  });
});
