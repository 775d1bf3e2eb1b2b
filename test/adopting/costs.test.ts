/** What adopting costs: docs/adopting.md has the same figures. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { FieldValue } from "firebase-admin/firestore";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toMillis } from "../../functions/src/counter/time.ts";
import { createWakeHandler } from "../../functions/src/counter/wake.ts";
import { cliProject } from "../../testkit/cli.ts";
import { admin, adminAt } from "../../testkit/clients.ts";
import { inProcessBackend } from "../../testkit/inProcessBackend.ts";
import { type Meter, startMeter } from "../../testkit/meter.ts";

const SHARDS = 10;
const docs = readFileSync("docs/adopting.md", "utf8");
let meter: Meter;
beforeAll(async () => {
  meter = await startMeter(process.env.FIRESTORE_EMULATOR_HOST as string);
});
afterAll(() => meter.close());

async function usedBy(act: () => Promise<unknown>) {
  const { reads, writes } = { ...meter.usage };
  await act();
  return { reads: meter.usage.reads - reads, writes: meter.usage.writes - writes };
}

/** The row of a table with its reads and writes. */
function documented(what: string) {
  const [, reads = "", writes = ""] = new RegExp(`^\\| ${what}.*? \\| +(.*?) \\| +(.*?) \\|`, "m").exec(docs) ?? [];
  return { reads: Number(reads), writes: Number(writes) };
}

/** The functions in this process, and a counter in a collection of their own. */
function functionsWith(adopted: boolean) {
  const { firestore, close } = adminAt(meter.address);
  const { backend, tasks } = inProcessBackend({ adopted, minInterval: 1_000, maxInterval: 10_000 }, firestore);
  const counter = admin.collection(backend.config.collection).doc("visits");
  const shard = (id: string) => counter.collection("shards").doc(id);
  let handle = createWakeHandler(backend);
  return {
    ...{ close, tasks, counter, shard, lag: backend.snapshotLag },
    anotherInstance() {
      handle = createWakeHandler(backend);
    },
    field: async (name: string) => (await counter.get()).get(name),
    /** Writes a shard as an app does, which is not metered. @returns the event of the write */
    async write(id: string, fields: object, isNew = false) {
      const { writeTime } = await shard(id).set(fields, { merge: true });
      return () => handle({ counterId: counter.id, shardId: id, isNew, committedAt: toMillis(writeTime) });
    },
  };
}
const oldWrite = { count: FieldValue.increment(1) };
const newWrite = (shard: string) => ({ shard, ...oldWrite, writes: FieldValue.increment(1) });

test("adopting a counter, and a dry run", async () => {
  const project = cliProject("demo-adopting-costs");
  const counter = project.db.doc("counters/visits");
  await counter.set({ num_shards: SHARDS });
  for (let n = 0; n < SHARDS; n++) await counter.collection("shards").doc(`${n}`).set({ count: 1 });
  const adopt = (...more: string[]) => project.json("adopt", "visits", ...more, "--emulator", meter.address);
  expect(await usedBy(() => adopt("--dry-run"))).toEqual({ reads: 11, writes: 0 });
  const { reads, writes } = await usedBy(() => adopt("--yes"));
  // It then waits for a publish, of which there is none in this project.
  expect({ reads: reads >= 11, writes }).toEqual({ reads: true, writes: 11 });
  expect(documented("`adopt`, for a counter with 10 shards")).toEqual({ reads: 11, writes: 11 });
  await project.clear();
  await project.db.terminate();
});

test("an old write to an idle counter, and one to a busy counter", async () => {
  const { counter, shard, write, field, tasks, lag, close } = functionsWith(true);
  await counter.set({ num_shards: SHARDS });
  for (let n = 0; n < SHARDS; n++) await shard(`${n}`).set({ shard: `${n}`, count: 5, writes: 0 });
  const begin = await write("base", { shard: "base", count: 0, writes: 0 }, true);
  await sleep(2 * lag);
  await begin();
  expect(await field("phase")).toBe("idle");
  await sleep(1_200);

  const event = await write("7", oldWrite);
  await sleep(2 * lag);
  expect(await usedBy(event)).toEqual(documented("an old write to an idle counter"));
  expect([await field("total"), await field("phase"), tasks.length]).toEqual([51, "idle", 0]);

  await sleep(1_200);
  const crowd = await Promise.all(Array.from({ length: 40 }, (_, n) => write(`${n % SHARDS}`, oldWrite)));
  await sleep(2 * lag);
  for (const one of crowd) await one();
  expect(await field("total")).toBe(91);
  expect(await field("phase")).toBe("busy");
  const another = await write("7", oldWrite);
  expect(await usedBy(another)).toEqual({ reads: 0, writes: 0 });
  await close();
});

test("a new client's write to a silent shard of any counter: a read for each poll", async () => {
  const { write, field, lag, anotherInstance, close } = functionsWith(true);
  await write("0", newWrite("0"), true);
  const begin = await write("7", newWrite("7"), true);
  await sleep(2 * lag);
  await begin();
  expect(await field("phase")).toBe("scattered");
  await sleep(300);
  const publishes = await field("publishes");
  for (let n = 0; n < 3; n++) expect(await usedBy(await write("7", newWrite("7")))).toEqual({ reads: 0, writes: 0 });
  // An instance that does not know of the poll reads the counter document, once.
  anotherInstance();
  for (const reads of [1, 0, 0]) expect(await usedBy(await write("7", newWrite("7")))).toEqual({ reads, writes: 0 });
  expect(await field("publishes")).toBe(publishes);
  await close();
});
