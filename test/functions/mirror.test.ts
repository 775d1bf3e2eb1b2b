/**
 * Mirrors: the deployed functions write `mirrored:{key}` into `mirrors/{key}`.`stats.total`, and `comments:{key}` into
 * `posts/{key}`.`comments` (the parameters are in scripts/test.ts). Where a schedule of events matters, the backend's own
 * code runs in this process (testkit/inProcessBackend.ts).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { counter as serverCounter, incrementCounter as serverIncrement } from "firestore-tally/admin";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseMirrors } from "../../core/src/index.ts";
import { aggregate } from "../../functions/src/aggregate.ts";
import type { Cause } from "../../functions/src/cause.ts";
import { readCounter } from "../../functions/src/counterDocument.ts";
import { measureShards } from "../../functions/src/measure.ts";
import { nextPublished } from "../../functions/src/nextPublished.ts";
import { publish } from "../../functions/src/publish.ts";
import { toMillis } from "../../functions/src/time.ts";
import { admin, adminAt, type Client, client } from "../../testkit/clients.ts";
import { logged } from "../../testkit/deployedFunctions.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { startMeter } from "../../testkit/meter.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { incrementSteadily } from "../../testkit/traffic.ts";
import { until } from "../../testkit/until.ts";

let writers: Client[];
beforeAll(() => {
  writers = Array.from({ length: 5 }, () => client());
});
afterAll(async () => {
  await Promise.all(writers.map((one) => one.close()));
});

const target = (key: string) => admin.doc(`mirrors/${key}`);
const mirrored = async (key: string) => (await target(key).get()).get("stats.total");
const add = (key: string) => incrementCounter(counter((writers[0] as Client).db, `mirrored:${key}`));

test.concurrent("a mirror is written in the same commit as a publish, and only forward", async () => {
  const key = "follows";
  await target(key).set({ title: "kept", stats: { other: "kept" } });
  const commits = { counter: new Map<number, number>(), mirror: new Map<number, number>() };
  const watching = [
    admin.doc(`counters/mirrored:${key}`).onSnapshot((snapshot) => {
      if (snapshot.updateTime) commits.counter.set(toMillis(snapshot.updateTime), snapshot.get("total"));
    }),
    target(key).onSnapshot((snapshot) => {
      const total = snapshot.get("stats.total");
      if (snapshot.updateTime && total !== undefined) commits.mirror.set(toMillis(snapshot.updateTime), total);
    }),
  ];
  const { acknowledged } = await incrementSteadily(writers, `mirrored:${key}`, 60, 6);
  await until(async () => (await mirrored(key)) === acknowledged, "the mirror to show the last increment");
  await until(() => [...commits.mirror.values()].at(-1) === acknowledged, "its listener");
  for (const stop of watching) stop();

  const totals = [...commits.mirror.values()];
  console.log(`${acknowledged} increments, ${commits.counter.size} publishes, ${totals.length} writes of the mirror`);
  expect(totals.length).toBeGreaterThanOrEqual(3);
  expect(totals.length).toBeLessThanOrEqual(commits.counter.size);
  expect(totals).toEqual(totals.toSorted((a, b) => a - b));
  for (const [at, total] of commits.mirror) expect(commits.counter.get(at)).toBe(total);
  expect((await target(key).get()).data()).toEqual({ title: "kept", stats: { other: "kept", total: acknowledged } });
});

test.concurrent("a missing document is not created; once created, it gets the field with the next change", async () => {
  const key = "missing";
  await add(key);
  await until(async () => (await readPublished(`mirrored:${key}`))?.total === 1, "the total");
  expect((await target(key).get()).exists).toBe(false);
  await target(key).set({ title: "late" });
  await add(key);
  await until(async () => (await mirrored(key)) === 2, "the mirror");
  await target(key).delete();
  await add(key);
  await until(async () => (await readPublished(`mirrored:${key}`))?.total === 3, "the total");
  expect((await target(key).get()).exists).toBe(false);
});

test.concurrent("a counted collection has its mirror in its parent document", async () => {
  await admin.doc("posts/mirrored").set({ title: "kept" });
  await Promise.all(Array.from({ length: 3 }, () => admin.collection("posts/mirrored/comments").add({})));
  await until(async () => (await admin.doc("posts/mirrored").get()).get("comments") === 3, "the mirror");
  expect((await admin.doc("posts/mirrored").get()).data()).toEqual({ title: "kept", comments: 3 });
});

test.concurrent("a key that cannot be a document id has no mirror, and all others have their own", async () => {
  const admitted = serverCounter(admin, "mirrored:a%2Fb é");
  await target("a%2Fb é").set({});
  await serverIncrement(admitted, 4);
  await until(async () => (await mirrored("a%2Fb é")) === 4, "the mirror");
  for (const id of ["mirrored:", "mirrored:.", "mirrored:..", "mirrored"]) {
    await serverIncrement(serverCounter(admin, id));
    await until(async () => (await readPublished(id))?.total === 1, `the total of ${id}`);
  }
});

test.concurrent("a document that is full is logged, and its counter is published", async () => {
  // Text up to the size limit, in two fields, since a single field has a lower limit.
  let size = 48_576;
  const fill = (): Promise<unknown> =>
    target("full")
      .set({ text: "x".repeat(1_000_000), more: "x".repeat(size) })
      .catch(() => {
        size -= 8;
        return fill();
      });
  await fill();
  await add("full");
  await until(async () => (await readPublished("mirrored:full"))?.total === 1, "the total");
  await until(() => logged("could not mirror a total").length > 0, "the report");
  const [report] = logged("could not mirror a total");
  expect(report).toMatchObject({ severity: "ERROR", counter: "mirrored:full", document: "mirrors/full" });
  expect(await mirrored("full")).toBe(undefined);
});

test.concurrent("a document under constant transactions of the app gets the final total", async () => {
  const key = "contended";
  await target(key).set({ edits: 0 });
  let done = false;
  let edits = 0;
  const editing = Promise.all(
    Array.from({ length: 3 }, async () => {
      while (!done) {
        await admin.runTransaction(async (transaction) => {
          const { edits } = (await transaction.get(target(key))).data() as { edits: number };
          transaction.update(target(key), { edits: edits + 1 });
        });
        edits++;
      }
    }),
  );
  const { acknowledged } = await incrementSteadily(writers, `mirrored:${key}`, 20, 3);
  await until(async () => (await mirrored(key)) === acknowledged, "the mirror");
  done = true;
  await editing;
  expect((await target(key).get()).data()).toEqual({ edits, stats: { total: acknowledged } });
});

// ── The backend's own code ────────────────────────────────────────────────────────────────────────────────────────

let made = 0;
/** A backend in this process whose counter has a mirror. */
function mirroringBackend(firestore = admin) {
  const document = `mirrorLab${process.pid}x${made++}/key`;
  const { backend } = inProcessBackend(
    { mirrors: parseMirrors(`backend=${document.replace("key", "{key}")}.total`, "MIRRORS") },
    firestore,
  );
  const ref = backend.counters.doc("backend:key");
  const write = async (by: number): Promise<Cause> => {
    const { writeTime } = await ref
      .collection("shards")
      .doc("0")
      .set({ count: FieldValue.increment(by), writes: FieldValue.increment(1) }, { merge: true });
    await sleep(backend.config.minInterval);
    return { at: toMillis(writeTime), shardId: "0", isPoll: false };
  };
  return { backend, ref, target: admin.doc(document), write };
}

test.concurrent("a mirror costs 1 write with each new total, and nothing with the same total or a missing document", async () => {
  const meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
  const { firestore, close } = adminAt(meter.address);
  const { backend, ref, target, write } = mirroringBackend(firestore);
  const usedBy = async (by: number) => {
    const cause = await write(by);
    const state = await readCounter(ref);
    const { reads, writes } = meter.usage;
    await aggregate(backend, state, cause);
    return { reads: meter.usage.reads - reads, writes: meter.usage.writes - writes };
  };
  expect(await usedBy(1)).toEqual({ reads: 1, writes: 1 });
  await target.set({});
  await sleep(backend.config.maxInterval);
  expect(await usedBy(2)).toEqual({ reads: 1, writes: 2 });
  expect((await target.get()).data()).toEqual({ total: 3 });
  await sleep(backend.config.maxInterval);
  const { updateTime } = await target.get();
  await write(1);
  expect(await usedBy(-1)).toEqual({ reads: 1, writes: 1 });
  expect((await target.get()).updateTime).toEqual(updateTime);
  await close();
  meter.close();
});

test.concurrent("I3: neither a late publish nor one of a deleted counter writes the mirror", async () => {
  const { backend, ref, target, write } = mirroringBackend();
  const { config } = backend;
  for (const there of [false, true]) {
    if (there) await target.set({ total: "untouched" });
    const cause = await write(1);
    const before = await readCounter(ref);
    const late = await measureShards(ref.collection("shards"), 0);
    const next = nextPublished(cause, { previous: before.published }, late, config);
    // Another publish comes first, and then a deletion.
    await ref.set({ total: 100 });
    expect(await publish(before, next, late.asOf, config)).toBeUndefined();
    const current = await readCounter(ref);
    await ref.delete();
    expect(await publish(current, next, late.asOf, config)).toBeUndefined();
    expect((await ref.get()).exists).toBe(false);
    expect((await target.get()).data()).toEqual(there ? { total: "untouched" } : undefined);
  }
});
