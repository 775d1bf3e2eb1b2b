/** The rules of open counters. A part of rules.test.ts, which measures the coverage of all parts together. */
import { assertFails, assertSucceeds } from "@firebase/rules-unit-testing";
import {
  arrayUnion,
  Bytes,
  collection,
  deleteDoc,
  deleteField,
  getDoc,
  getDocs,
  increment,
  serverTimestamp,
  setDoc,
  Timestamp,
  updateDoc,
  writeBatch,
} from "firebase/firestore";
import { describe, expect, test } from "vitest";
import {
  alice,
  anyone,
  bytes,
  entry,
  environment,
  incrementData,
  merge,
  NOW,
  nonce,
  PROJECT,
  shard,
  sumOf,
  window,
  writeAsAdmin,
} from "./environment.ts";

describe("an open counter", () => {
  test("is incremented by anyone, on a new shard and on one that exists", async () => {
    await assertSucceeds(setDoc(shard(anyone), incrementData(), merge));
    await assertSucceeds(setDoc(shard(alice), incrementData(), merge));
    await assertSucceeds(setDoc(shard(anyone, "9999"), incrementData({ shard: "9999" }), merge));
    expect(await sumOf("views:home")).toBe(3);
  });

  test("accepts an increment on a shard that a server wrote by count alone", async () => {
    await writeAsAdmin("counters/views:home/shards/0", { count: 5 });
    await assertSucceeds(setDoc(shard(anyone), incrementData(), merge));
    expect(await sumOf("views:home")).toBe(6);
  });

  test("accepts 40 increments on one shard, in any window, and keeps every mark", async () => {
    for (let i = 0; i < 40; i++) {
      await assertSucceeds(
        setDoc(shard(anyone), incrementData({ marks: { [(i % 16).toString(16)]: window(nonce()) } }), merge),
      );
    }
    expect(await sumOf("views:home")).toBe(40);
    const stored = (await getDoc(shard(anyone))).get("marks");
    expect(Object.values<{ nonces: unknown[] }>(stored).reduce((sum, { nonces }) => sum + nonces.length, 0)).toBe(40);
  });

  test("accepts only integers on a shard of integers, since a double would block increments by 1", async () => {
    await writeAsAdmin("counters/views:home/shards/0", { count: 5 });
    await assertFails(writeDouble("views:home", "0", 6));
    await assertFails(writeDouble("views:home", "1", 1));
    await writeAsAdmin("counters/views:home/shards/0", { count: 5.5 });
    await assertSucceeds(setDoc(shard(anyone), incrementData(), merge));
  });

  const refused: Record<string, object> = {
    "by 2": incrementData({ count: increment(2) }),
    "by -1": incrementData({ count: increment(-1) }),
    "by a fraction": incrementData({ count: increment(0.5) }),
    "by 0": incrementData({ count: increment(0) }),
    "to NaN": incrementData({ count: Number.NaN }),
    "to Infinity": incrementData({ count: Number.POSITIVE_INFINITY }),
    "to a string": incrementData({ count: "1" }),
    "to null": incrementData({ count: null }),
    "without a count": incrementData({ count: deleteField() }),
    "without counting the write": incrementData({ writes: deleteField() }),
    "counting two writes": incrementData({ writes: increment(2) }),
    "counting writes as a string": incrementData({ writes: "1" }),
    "without a time": incrementData({ at: deleteField() }),
    "with a time of its own": incrementData({ at: Timestamp.fromMillis(0) }),
    "with a foreign field": incrementData({ extra: 1 }),
    "without its shard": incrementData({ shard: deleteField() }),
    "as another shard": incrementData({ shard: "1" }),
    "as a shard that is a number": incrementData({ shard: 0 }),
    "without a mark": incrementData({ marks: deleteField() }),
    "with no window in the map": incrementData({ marks: {} }),
    "with marks that are a string": incrementData({ marks: "abcd" }),
    "with marks that are a list": incrementData({ marks: [bytes(1, 2, 3, 4)] }),
    "with two windows": incrementData({ marks: { 0: window(nonce()), 1: window(nonce()) } }),
    "with a window g": incrementData({ marks: { g: window(nonce()) } }),
    "with a window 10": incrementData({ marks: { 10: window(nonce()) } }),
    "with a window 07": incrementData({ marks: { "07": window(nonce()) } }),
    "with a window that is a string": incrementData({ marks: { 0: "abcd" } }),
    "with a window that is null": incrementData({ marks: { 0: null } }),
    "with a window without a time": incrementData({ marks: { 0: { nonces: arrayUnion(bytes(1, 2, 3, 4)) } } }),
    "with a window with a time of its own": incrementData({
      marks: { 0: { ...window(nonce()), at: Timestamp.fromMillis(0) } },
    }),
    "with a window without a nonce": incrementData({ marks: { 0: { at: serverTimestamp() } } }),
    "with a window with a foreign field": incrementData({ marks: { 0: { ...window(nonce()), by: 1 } } }),
    "with two nonces": incrementData({ marks: { [NOW]: window(nonce(), nonce()) } }),
    "with no nonce in the list": incrementData({ marks: { 0: { at: serverTimestamp(), nonces: [] } } }),
    "with a nonce of 3 bytes": incrementData({ marks: { [NOW]: window(bytes(1, 2, 3)) } }),
    "with a nonce of 5 bytes": incrementData({ marks: { [NOW]: window(bytes(1, 2, 3, 4, 5)) } }),
    "with a megabyte of a nonce": incrementData({
      marks: { 0: window(Bytes.fromUint8Array(new Uint8Array(900_000))) },
    }),
    "with a nonce that is a string": incrementData({ marks: { [NOW]: window("abcd") } }),
    "with a nonce that is a number": incrementData({ marks: { [NOW]: window(12_345_678) } }),
    "with a nonce that is null": incrementData({ marks: { 0: window(null) } }),
    "with nonces that are a map": incrementData({
      marks: { 0: { at: serverTimestamp(), nonces: { 0: bytes(1, 2, 3, 4) } } },
    }),
  };
  test.each(Object.entries(refused))("is not incremented %s, on a new shard or an old one", async (_, write) => {
    await assertFails(setDoc(shard(anyone), write, merge));
    await writeAsAdmin("counters/views:home/shards/0", {
      count: 1,
      writes: 1,
      at: Timestamp.now(),
      shard: "0",
      marks: { 7: { at: Timestamp.now(), nonces: [bytes(9, 9, 9, 9)] } },
    });
    await assertFails(setDoc(shard(anyone), write, merge));
    expect(await sumOf("views:home")).toBe(1);
  });

  test.each(["10000", "00", "01", "-1", "1.5", "base", "x", "1e3", " 1"])("has no shard %j", async (id) => {
    await assertFails(setDoc(shard(anyone, id), incrementData({ shard: id }), merge));
  });

  test("refuses the replay of a write after any number of other writes", async () => {
    const write = incrementData();
    await assertSucceeds(setDoc(shard(anyone), write, merge));
    await assertFails(setDoc(shard(anyone), write, merge));
    for (let n = 0; n < 20; n++) await assertSucceeds(setDoc(shard(alice), incrementData(), merge));
    await assertFails(setDoc(shard(anyone), write, merge));
    expect(await sumOf("views:home")).toBe(21);
  });

  test("refuses to drop, move or replace the marks of others, or to replace the whole shard", async () => {
    const [one, other, third] = [nonce(), nonce(), nonce()];
    const old = { at: Timestamp.fromMillis(Date.now() - 600_000), nonces: [one, other] };
    await writeAsAdmin("counters/views:home/shards/0", {
      count: 1,
      writes: 1,
      marks: { [NOW]: old, 8: { ...old, nonces: [one] } },
    });
    const write = (nonces: unknown) => incrementData({ marks: { [NOW]: { at: serverTimestamp(), nonces } } });
    await assertFails(setDoc(shard(anyone), write([third]), merge));
    await assertFails(setDoc(shard(anyone), write([one, third]), merge));
    await assertFails(setDoc(shard(anyone), write([other, one, third]), merge));
    await assertFails(setDoc(shard(anyone), write([third, one, other]), merge));
    await assertFails(setDoc(shard(anyone), { ...incrementData(), count: 2, writes: 2 }));
    await assertFails(updateDoc(shard(anyone), incrementData()));
    await assertFails(
      setDoc(shard(anyone), incrementData({ marks: { [NOW]: window(third), 8: deleteField() } }), merge),
    );
    await assertSucceeds(setDoc(shard(anyone), write([one, other, third]), merge));
    expect(await sumOf("views:home")).toBe(2);
  });

  test("counts two increments of one shard in one commit as two, or refuses both", async () => {
    const batch = writeBatch(anyone);
    batch.set(shard(anyone), incrementData(), merge);
    batch.set(shard(anyone), incrementData(), merge);
    const accepted = await batch.commit().then(
      () => 2,
      () => 0,
    );
    expect(await sumOf("views:home")).toBe(accepted);
  });

  test("refuses a copy of another window, and keeps the marks of equal windows", async () => {
    const old = { at: Timestamp.fromMillis(Date.now() - 1_000), nonces: [nonce()] };
    await writeAsAdmin("counters/views:home/shards/0", { count: 1, writes: 1, marks: { 0: old } });
    await assertFails(setDoc(shard(anyone), incrementData({ marks: { 1: old } }), merge));
    await writeAsAdmin("counters/views:home/shards/0", { count: 1, writes: 1, marks: { 0: old, 1: old } });
    const only = { at: serverTimestamp(), nonces: [nonce()] };
    await assertFails(setDoc(shard(anyone), incrementData({ marks: { 1: only } }), merge));
    await assertSucceeds(setDoc(shard(anyone), incrementData({ marks: { 2: only } }), merge));
  });

  test("counts to 2^53 in either direction, since numbers are exact up to there", async () => {
    for (const count of [2 ** 53 - 1, -(2 ** 53) - 2]) {
      await writeAsAdmin("counters/views:home/shards/0", { count, writes: 1 });
      await assertFails(setDoc(shard(anyone), incrementData(), merge));
    }
    await writeAsAdmin("counters/views:home/shards/0", { count: 2 ** 53 - 2, writes: 1 });
    await assertSucceeds(setDoc(shard(anyone), incrementData(), merge));
  });

  describe("lets every client remove windows", () => {
    const ago = (seconds: number, ...nonces: Bytes[]) => ({
      at: Timestamp.fromMillis(Date.now() - seconds * 1_000),
      nonces,
    });
    const names = Array.from({ length: 16 }, (_, n) => n.toString(16));
    const tidied = { count: 3, writes: 3, shard: "0", at: Timestamp.fromMillis(0) };
    const marked = (marks: object) => writeAsAdmin("counters/views:home/shards/0", { ...tidied, marks });
    const remove = (windows: string[], more: object = {}) =>
      updateDoc(shard(anyone), {
        ...Object.fromEntries(windows.map((name) => [`marks.${name}`, deleteField()])),
        ...more,
      });

    test.each(names)("named %s, two minutes after the last write and not before", async (name) => {
      await marked({ [name]: ago(110, nonce()) });
      await assertFails(remove([name]));
      await marked({ [name]: ago(121, nonce()) });
      await assertSucceeds(remove([name]));
      expect((await getDoc(shard(anyone))).data()).toEqual({ ...tidied, marks: {} });
    });

    test("all at once, or some of them", async () => {
      await marked(Object.fromEntries(names.map((name) => [name, ago(121, nonce())])));
      await assertSucceeds(remove(["0", "f"]));
      await assertSucceeds(updateDoc(shard(anyone), { marks: deleteField() }));
      await assertSucceeds(setDoc(shard(anyone), incrementData(), merge));
    });

    test("of a shard whose other fields are missing, which refuses every increment", async () => {
      await writeAsAdmin("counters/views:home/shards/0", { count: "3", marks: { 0: ago(121, nonce()) } });
      await assertFails(setDoc(shard(anyone), { marks: { 0: window(nonce()) } }, merge));
      await assertSucceeds(remove(["0"]));
    });

    const old = () => ({
      0: ago(600, bytes(1, 2, 3, 4)),
      1: ago(600, bytes(5, 6, 7, 8)),
      2: ago(5, bytes(9, 9, 9, 9)),
    });
    const wrong: Record<string, () => Promise<void>> = {
      "removes a young window, too": () => remove(["0", "2"]),
      counts: () => remove(["0"], { count: increment(1) }),
      "counts a write": () => remove(["0"], { writes: increment(1) }),
      "has a time": () => remove(["0"], { at: serverTimestamp() }),
      "has a foreign field": () => remove(["0"], { extra: 1 }),
      "renames the shard": () => remove(["0"], { shard: "1" }),
      "adds a window": () => remove(["0"], { "marks.3": ago(0, nonce()) }),
      "adds a window for two": () => remove(["0", "1"], { "marks.3": ago(0, nonce()) }),
      "makes another window young": () => remove(["0"], { "marks.1.at": serverTimestamp() }),
      "makes a young window old": () => remove(["0"], { "marks.2.at": Timestamp.fromMillis(0) }),
      "drops a nonce of another window": () => remove(["0"], { "marks.1.nonces": [] }),
      "removes nothing": () => remove([], { count: 3 }),
      "removes what is no window": () => remove(["0"], { "marks.g": deleteField(), "marks.2": deleteField() }),
    };
    test.each(Object.entries(wrong))("but not with a write that %s", async (_, write) => {
      await marked(old());
      await assertFails(write());
      expect(await sumOf("views:home")).toBe(3);
    });

    test("but not a window without a time", async () => {
      await marked({ 0: { nonces: [nonce()] } });
      await assertFails(remove(["0"]));
    });
  });

  test("has no entries: a client can neither create one nor delete a server's", async () => {
    const batch = writeBatch(alice);
    batch.set(entry(alice, "alice", "views:home"), { by: 1, shard: "0", at: serverTimestamp() });
    batch.set(shard(alice), incrementData(), merge);
    await assertFails(batch.commit());
    await writeAsAdmin("counters/views:home/entries/alice", { by: 1, shard: "0", at: Timestamp.now() });
    await assertFails(deleteDoc(entry(alice, "alice", "views:home")));
  });

  test("shows its shards to every client and lets none delete one", async () => {
    await assertSucceeds(setDoc(shard(anyone), incrementData(), merge));
    await assertSucceeds(getDoc(shard(anyone)));
    await assertSucceeds(getDocs(collection(anyone, "counters/views:home/shards")));
    await assertFails(deleteDoc(shard(alice)));
  });
});

/** Writes a double over REST, since the SDKs send whole numbers as integers. */
async function writeDouble(counter: string, id: string, count: number): Promise<void> {
  const { host, port } = environment.emulators.firestore ?? { host: "", port: 0 };
  const documents = `projects/${PROJECT}/databases/(default)/documents`;
  const { status } = await fetch(`http://${host}:${port}/v1/${documents}:commit`, {
    method: "POST",
    body: JSON.stringify({
      writes: [
        {
          update: {
            name: `${documents}/counters/${counter}/shards/${id}`,
            fields: { shard: { stringValue: id }, count: { doubleValue: count } },
          },
          updateMask: { fieldPaths: ["shard", "count"] },
          updateTransforms: [
            { fieldPath: "writes", increment: { integerValue: "1" } },
            { fieldPath: "at", setToServerValue: "REQUEST_TIME" },
            { fieldPath: "marks.`7`.at", setToServerValue: "REQUEST_TIME" },
            { fieldPath: "marks.`7`.nonces", appendMissingElements: { values: [{ bytesValue: nonce().toBase64() }] } },
          ],
        },
      ],
    }),
  });
  if (status !== 200) throw Object.assign(new Error(`status ${status}`), { code: "permission-denied" });
}
