/** The meter of units in front of the emulator: it knows the size of every document without reading it. */
import { doc, onSnapshot } from "firebase/firestore";
import { FieldValue, type Firestore, Timestamp } from "firebase-admin/firestore";
import { counter, incrementCounter } from "firestore-tally";
import { ensureCounter, counter as serverCounter } from "firestore-tally/admin";
import { afterAll, expect, test } from "vitest";
import { documentBytes, readUnits, type StoredFields } from "../../costs/src/index.ts";
import { admin, adminAt, client, signIn } from "../../testkit/clients.ts";
import { FollowedDocuments } from "../../testkit/followedDocuments.ts";
import { startProxy } from "../../testkit/grpcProxy.ts";
import { unitMeter } from "../../testkit/unitMeter.ts";
import { until } from "../../testkit/until.ts";

const ROOT = `projects/${process.env.GCLOUD_PROJECT}/databases/(default)/documents`;

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

async function metered() {
  const documents = new FollowedDocuments();
  const { units, inspection } = unitMeter(documents);
  const proxy = await startProxy(process.env.FIRESTORE_EMULATOR_HOST as string, [inspection]);
  const { firestore, close } = adminAt(proxy.address);
  closing.push(proxy.close, close);
  /** Compares the size of each document with that of what the emulator has. */
  const expectSizes = async (...paths: string[]) => {
    for (const path of paths) {
      const fields = (await admin.doc(path).get()).data();
      const bytes = fields && documentBytes(path, fields as StoredFields);
      expect(documents.bytesOf(`${ROOT}/${path}`), path).toBe(bytes);
    }
  };
  return { units, address: proxy.address, firestore: firestore as unknown as Firestore, expectSizes };
}

const name = (what: string) => `units${process.pid}${what}/a`;

test("a document is as large as its sets, merges, updates, transforms and deletes have made it", async () => {
  const { firestore, units, expectSizes } = await metered();
  const ref = firestore.doc(name("writes"));
  const value = {
    text: "ä",
    at: Timestamp.now(),
    list: ["a", { b: null }],
    bytes: Buffer.from("abc"),
    yes: true,
    n: 1.5,
  };
  await ref.set(value);
  await expectSizes(ref.path);
  await ref.set(
    { marks: { 0: { at: FieldValue.serverTimestamp(), nonces: FieldValue.arrayUnion("x") } } },
    { merge: true },
  );
  await ref.set({ marks: { 0: { nonces: FieldValue.arrayUnion("x", "y", Buffer.from("y")) } } }, { merge: true });
  await expectSizes(ref.path);
  await ref.update({
    n: FieldValue.increment(1),
    "marks.1.nonces": ["z"],
    list: FieldValue.arrayRemove("a"),
    yes: FieldValue.delete(),
  });
  await ref.update({ "marks.0": FieldValue.delete(), "marks.`odd.name`": 7 });
  await expectSizes(ref.path);
  expect(units.writeUnit).toBe(5);
  await ref.set({ bytes: Buffer.alloc(1_500) });
  await ref.delete();
  await expectSizes(ref.path);
  expect(units).toEqual({ writeUnit: 5 + 2 * 2, readUnit: 0, realtimeUnit: 0 });
});

test("an increment with `once` is two write units, for the shard and the entry", async () => {
  const { address, units, expectSizes } = await metered();
  const user = client(address);
  closing.push(user.close);
  const uid = await signIn(user);
  const id = `likes:units${process.pid}`;
  // Not open to clients.
  await ensureCounter(serverCounter(admin, id), { shards: 2 });
  await incrementCounter(counter(user.db, id), 1, { once: uid });
  expect(units.writeUnit).toBe(2);
  const shard = (await admin.collection(`counters/${id}/shards`).get()).docs.find(({ id }) => id !== "base")?.ref
    .path as string;
  await expectSizes(shard, `counters/${id}/tallyEntries/${uid}`);
});

test("reads share units by size, an aggregation scans its collection, a refused write costs nothing", async () => {
  const { firestore, units } = await metered();
  const all = firestore.collection(`units${process.pid}reads`);
  for (const id of ["a", "b", "c"]) await all.doc(id).set({ n: 1, bytes: Buffer.alloc(2_900) });
  await all
    .doc("a")
    .collection("below")
    .doc("d")
    .set({ bytes: Buffer.alloc(9_000) });
  await expect(all.doc("a").create({})).rejects.toThrow();
  expect(units.writeUnit).toBe(3 * 3 + 9);
  const used = async (act: () => Promise<unknown>) => {
    const before = units.readUnit;
    await act();
    return units.readUnit - before;
  };
  expect(await used(() => all.doc("a").get())).toBe(1);
  expect(await used(() => all.doc("none").get())).toBe(1);
  expect(await used(() => all.select("n").get())).toBe(readUnits(3 * 2_990));
  expect(await used(() => all.count().get())).toBe(readUnits(3 * 2_990));
});

test("a listener's first state is read, and each later one is a real-time unit", async () => {
  const { address, firestore, units } = await metered();
  const user = client(address);
  closing.push(user.close);
  const path = `counters/views:units${process.pid}`;
  await firestore.doc(path).set({ total: 0 });
  const seen: number[] = [];
  onSnapshot(doc(user.db, path), (state) => seen.push(state.get("total")));
  await until(() => seen.length === 1, "the first state");
  expect(units).toMatchObject({ readUnit: 1, realtimeUnit: 0 });
  for (const total of [1, 2]) {
    await firestore.doc(path).set({ total, more: Buffer.alloc(5_000) });
    await until(() => seen.at(-1) === total, "an update");
  }
  expect(units).toMatchObject({ readUnit: 1, realtimeUnit: 2 * readUnits(5_050) });
});
