/**
 * Data that the emulator imports lacks the tasks that were scheduled when it was exported. The functions look once after they have loaded:
 * no total stays stale, though nothing is written, and no schedule runs.
 */
import { join } from "node:path";
import { Firestore, Timestamp } from "@google-cloud/firestore";
import { expect, onTestFinished, test, vi } from "vitest";
import { PROJECT, startFirebase } from "../../testkit/emulators/firebase.ts";
import { createProject } from "../../testkit/emulators/project.ts";
import { emulatorEnvironment } from "../../testkit/emulators/requirements.ts";
import { until } from "../../testkit/until.ts";

const SHARDS = 20;

/** Counters that were written after the last publish, and in how many milliseconds their poll is due. */
const POLLS = { "hits:long-ago": -3_600_000, "hits:now": 0, "hits:later": 15_000 };

test("each total is right soon after an import, without a write", async () => {
  const { folder, addresses, remove } = await createProject("plain", {});
  onTestFinished(remove);
  const [env, log, data] = [emulatorEnvironment(folder), join(folder, "emulators.log"), join(folder, "exported")];
  const start = async (only: string[], ...more: string[]) => {
    const suite = await startFirebase(folder, log, env, only, undefined, more);
    onTestFinished(suite.stop, 60_000);
    return suite;
  };
  vi.stubEnv("FIRESTORE_EMULATOR_HOST", addresses.firestore);
  vi.stubEnv("METADATA_SERVER_DETECTION", "none");
  onTestFinished(() => void vi.unstubAllEnvs());
  const db = new Firestore({ projectId: PROJECT });
  onTestFinished(async () => await db.terminate());

  const before = await start(["firestore"]);
  const batch = db.batch();
  for (const [id, due] of Object.entries(POLLS)) {
    const [asOf, nextPollAt] = [due - 30_000, due].map((offset) => Timestamp.fromMillis(Date.now() + offset));
    const counter = db.doc(`counters/${id}`);
    batch.set(counter, { total: 1, shardCount: SHARDS, writes: 1, rate: 0, asOf, phase: "scattered", nextPollAt });
    for (let n = 0; n < SHARDS; n++)
      batch.set(counter.collection("shards").doc(`${n}`), { shard: `${n}`, count: 1, writes: 1 });
  }
  await batch.commit();
  const exported = await fetch(`http://${addresses.hub}/_admin/export`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ path: data }),
  });
  expect(exported.status).toBe(200);
  await before.stop();

  await start(["firestore", "functions", "tasks"], "--import", data);
  for (const id of Object.keys(POLLS)) {
    const total = async () => (await db.doc(`counters/${id}`).get()).get("total");
    await until(async () => (await total()) === SHARDS, `${id} to have ${SHARDS}`, 60_000);
  }
});
