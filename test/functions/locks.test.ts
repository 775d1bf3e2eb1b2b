/**
 * Documents that a client holds locked, by a read-write transaction that has read them. Any client can in a database that is
 * `PESSIMISTIC` (`test/rules/security.test.ts` "a transaction over REST locks the shards that it reads, in the emulator").
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { DocumentReference } from "firebase-admin/firestore";
import { describe, expect, test } from "vitest";
import { createWakeHandler } from "../../functions/src/counter/wake.ts";
import { admin } from "../../testkit/clients.ts";
import { serveFunction } from "../../testkit/functionServer.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { sumOfShards } from "../../testkit/storedCounter.ts";

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
  test("ends a publish of that counter after ten seconds, and the next one is exact", async () => {
    const { backend } = inProcessBackend();
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
    await whileLocked([counter], async () => {
      const startedAt = performance.now();
      await expect(wake(event)).rejects.toMatchObject({ code: 4 });
      expect(performance.now() - startedAt).toBeLessThan(20_000);
    });
    await wake(event);
    expect((await counter.get()).get("total")).toBe(2);
  });

  test("holds up ingest for seconds, and loses no event: not of its counter, and not of others", async () => {
    const ingest = await serveFunction("ingest", { INGEST_COUNTERS: "views:*" });
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
      expect(await Promise.all(counters.map(sumOfShards))).toEqual([2, 2]);
    } finally {
      await ingest.kill();
    }
  });
});
