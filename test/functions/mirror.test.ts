/**
 * Mirrors: the deployed functions write `mirrored:{name}` into `mirrors/{name}`.`stats.total` (the parameters are in scripts/test.ts). The
 * backend's own code runs in this process where a test chooses intervals. What a commit holds is in functions/src/counter/publish.test.ts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue } from "firebase-admin/firestore";
import { counter, getExactTotal, incrementCounter, publishCounter } from "firestore-tally/admin";
import { expect, test } from "vitest";
import { parseMirrors } from "../../core/src/index.ts";
import { aggregate } from "../../functions/src/counter/aggregate.ts";
import { readCounter } from "../../functions/src/counter/counterDocument.ts";
import { toMillis } from "../../functions/src/counter/time.ts";
import { FEATURES } from "../../functions/src/features/features.ts";
import { admin } from "../../testkit/clients.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { metered } from "../../testkit/metered.ts";
import { readPublished } from "../../testkit/storedCounter.ts";
import { until } from "../../testkit/until.ts";

test.concurrent("a missing document is not created; once created, it gets its field with the next change", async () => {
  const name = "a%2Fb é";
  const target = admin.doc(`mirrors/${name}`);
  const views = counter(admin, `mirrored:${name}`);
  await incrementCounter(views);
  await until(async () => (await readPublished(views.id))?.total === 1, "the total");
  expect((await target.get()).exists).toBe(false);
  const document = { title: "kept", stats: { other: "kept" } };
  await target.set(document);
  await incrementCounter(views, 4);
  await until(async () => (await target.get()).get("stats.total") === 5, "the mirror");
  expect((await target.get()).data()).toEqual({ ...document, stats: { other: "kept", total: 5 } });
});

test.concurrent("publishCounter brings the total back into a document that was made since, or was written by hand", async () => {
  const target = admin.doc("mirrors/remade");
  const views = counter(admin, "mirrored:remade");
  const shows = (total: unknown) => until(async () => (await target.get()).get("stats.total") === total, `${total}`);
  await incrementCounter(views, 3);
  await until(async () => (await readPublished(views.id))?.total === 3, "the total");
  await target.set({ title: "made later" });
  await publishCounter(views);
  await shows(3);
  await target.set({ title: "made anew" });
  await publishCounter(views);
  await shows(3);
  await target.update({ "stats.total": 100 });
  await publishCounter(views);
  await shows(3);
  // A later publish finds nothing to write.
  await target.update({ "stats.total": 100 });
  await incrementCounter(views, 1);
  await shows(4);
  expect((await target.get()).data()).toEqual({ title: "made anew", stats: { total: 4 } });
  expect(await getExactTotal(views)).toBe(4);
});

// ── The backend's own code ────────────────────────────────────────────────────────────────────────────────────────

let made = 0;
/** A backend in this process whose counter has a mirror. */
function mirroringBackend(firestore = admin) {
  const document = `mirrorLab${process.pid}x${made++}/name`;
  const mirrors = parseMirrors(`backend=${document.replace("name", "{name}")}.total`, "MIRRORS");
  const { backend } = inProcessBackend({ mirrors, minInterval: 50, maxInterval: 100 }, firestore);
  const ref = backend.counters.doc("backend:name");
  /** Increments, and counts it once it is due. */
  const increment = async (by: number) => {
    const { writeTime } = await ref
      .collection("shards")
      .doc("0")
      .set({ count: FieldValue.increment(by), writes: FieldValue.increment(1) }, { merge: true });
    await sleep(backend.config.maxInterval);
    const state = await readCounter(ref, FEATURES);
    return () => aggregate(backend, state, { at: toMillis(writeTime), shardId: "0", isPoll: false });
  };
  return { ref, target: admin.doc(document), increment };
}

test.concurrent("a mirror costs 1 write with each new total, and nothing with the same total or a missing document", async () => {
  const { firestore, usedBy, close } = await metered();
  const { target, increment } = mirroringBackend(firestore);
  expect(await usedBy(await increment(1))).toEqual({ reads: 1, writes: 1, deletes: 0 });
  await target.set({});
  expect(await usedBy(await increment(2))).toEqual({ reads: 1, writes: 2, deletes: 0 });
  expect((await target.get()).data()).toEqual({ total: 3 });
  const { updateTime } = await target.get();
  await increment(1);
  expect(await usedBy(await increment(-1))).toEqual({ reads: 1, writes: 1, deletes: 0 });
  expect((await target.get()).updateTime).toEqual(updateTime);
  await close();
});

test.concurrent("a document that is full is left as it is, and its counter is published", async () => {
  const { ref, target, increment } = mirroringBackend();
  // Text up to the size limit, in two fields, since a single field has a lower limit.
  let size = 48_576;
  const fill = (): Promise<unknown> =>
    target.set({ text: "x".repeat(1_000_000), more: "x".repeat(size) }).catch(() => {
      size -= 8;
      return fill();
    });
  await fill();
  await (await increment(1))();
  expect((await ref.get()).get("total")).toBe(1);
  expect((await target.get()).get("total")).toBe(undefined);
});

test.concurrent("a document under constant transactions of the app gets each total, and every transaction counts", async () => {
  const { target, increment } = mirroringBackend();
  await target.set({ edits: 0 });
  let isDone = false;
  let edits = 0;
  const editing = Array.from({ length: 3 }, async () => {
    while (!isDone) {
      await admin.runTransaction(async (transaction) => {
        const { edits } = (await transaction.get(target)).data() as { edits: number };
        transaction.update(target, { edits: edits + 1 });
      });
      edits++;
    }
  });
  for (let total = 1; total <= 3; total++) {
    await (await increment(1))();
    expect((await target.get()).get("total")).toBe(total);
  }
  isDone = true;
  await Promise.all(editing);
  expect((await target.get()).data()).toEqual({ edits, total: 3 });
});
