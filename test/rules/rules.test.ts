/** The default rules: what they accept, and every way they must refuse. */
import { readFileSync } from "node:fs";
import {
  assertFails,
  assertSucceeds,
  initializeTestEnvironment,
  type RulesTestEnvironment,
} from "@firebase/rules-unit-testing";
import {
  arrayUnion,
  Bytes,
  collection,
  collectionGroup,
  deleteDoc,
  deleteField,
  doc,
  documentId,
  type Firestore,
  getDoc,
  getDocs,
  increment,
  query,
  serverTimestamp,
  setDoc,
  setLogLevel,
  Timestamp,
  updateDoc,
  where,
  writeBatch,
} from "firebase/firestore";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { gapsInRules } from "../../testkit/ruleCoverage.ts";

setLogLevel("silent");
/** A project of its own: the functions of the suite watch the other one, and its coverage is of these tests alone. */
const PROJECT = "demo-tally-rules";
let environment: RulesTestEnvironment;
let anyone: Firestore;
let alice: Firestore;
let bob: Firestore;

beforeAll(async () => {
  const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST ?? "").split(":");
  const rules = readFileSync("firestore.rules", "utf8");
  environment = await initializeTestEnvironment({
    projectId: PROJECT,
    firestore: { host, port: Number(port), rules },
  });
  // The types of the bundled SDKs differ, their behaviour does not.
  anyone = environment.unauthenticatedContext().firestore() as unknown as Firestore;
  alice = environment.authenticatedContext("alice").firestore() as unknown as Firestore;
  bob = environment.authenticatedContext("bob").firestore() as unknown as Firestore;
});
beforeEach(() => environment.clearFirestore());
afterAll(() => environment.cleanup());

const shard = (db: Firestore, id = "0", counter = "views:home") => doc(db, `counters/${counter}/shards/${id}`);
const entry = (db: Firestore, key: string, counter = "likes:post") => doc(db, `counters/${counter}/entries/${key}`);

let marks = 0;
/** Four bytes that no other has. */
const nonce = () => bytes(marks >> 24, marks >> 16, marks >> 8, marks++);
const bytes = (...values: number[]) => Bytes.fromUint8Array(Uint8Array.from(values));
const window = (...nonces: unknown[]) => ({ at: serverTimestamp(), nonces: arrayUnion(...nonces) });
const NOW = "7";

/** The write of one good increment on shard 0, with some fields replaced. */
const good = (changes: object = {}) => ({
  shard: "0",
  count: increment(1),
  writes: increment(1),
  at: serverTimestamp(),
  marks: { [NOW]: window(nonce()) },
  ...changes,
});
const merge = { merge: true };

async function asAdmin(path: string, data: object): Promise<void> {
  await environment.withSecurityRulesDisabled((context) =>
    setDoc(doc(context.firestore() as unknown as Firestore, path), data),
  );
}

async function counted(counter: string): Promise<number> {
  let sum = 0;
  await environment.withSecurityRulesDisabled(async (context) => {
    const shards = await getDocs(collection(context.firestore() as unknown as Firestore, `counters/${counter}/shards`));
    for (const one of shards.docs) sum += one.get("count");
  });
  return sum;
}

describe("an open counter", () => {
  test("is incremented by anyone, on a new shard and on one that exists", async () => {
    await assertSucceeds(setDoc(shard(anyone), good(), merge));
    await assertSucceeds(setDoc(shard(alice), good(), merge));
    await assertSucceeds(setDoc(shard(anyone, "9999"), good({ shard: "9999" }), merge));
    expect(await counted("views:home")).toBe(3);
  });

  test("accepts an increment on a shard that a server wrote by count alone", async () => {
    await asAdmin("counters/views:home/shards/0", { count: 5 });
    await assertSucceeds(setDoc(shard(anyone), good(), merge));
    expect(await counted("views:home")).toBe(6);
  });

  test("takes 40 increments on one shard, in any window, and keeps every mark", async () => {
    for (let i = 0; i < 40; i++) {
      await assertSucceeds(setDoc(shard(anyone), good({ marks: { [(i % 16).toString(16)]: window(nonce()) } }), merge));
    }
    expect(await counted("views:home")).toBe(40);
    const stored = (await getDoc(shard(anyone))).get("marks");
    expect(Object.values<{ nonces: unknown[] }>(stored).reduce((sum, { nonces }) => sum + nonces.length, 0)).toBe(40);
  });

  test("takes integers as long as a shard has them: a double would close it to those who may add 1 alone", async () => {
    await asAdmin("counters/views:home/shards/0", { count: 5 });
    await assertFails(writeDouble("views:home", "0", 6));
    await assertFails(writeDouble("views:home", "1", 1));
    await asAdmin("counters/views:home/shards/0", { count: 5.5 });
    await assertSucceeds(setDoc(shard(anyone), good(), merge));
  });

  const refused: Record<string, object> = {
    "by 2": good({ count: increment(2) }),
    "by -1": good({ count: increment(-1) }),
    "by a fraction": good({ count: increment(0.5) }),
    "by 0": good({ count: increment(0) }),
    "to NaN": good({ count: Number.NaN }),
    "to Infinity": good({ count: Number.POSITIVE_INFINITY }),
    "to a string": good({ count: "1" }),
    "to null": good({ count: null }),
    "without a count": good({ count: deleteField() }),
    "without counting the write": good({ writes: deleteField() }),
    "counting two writes": good({ writes: increment(2) }),
    "counting writes as a string": good({ writes: "1" }),
    "without a time": good({ at: deleteField() }),
    "with a time of its own": good({ at: Timestamp.fromMillis(0) }),
    "with a foreign field": good({ extra: 1 }),
    "without its shard": good({ shard: deleteField() }),
    "as another shard": good({ shard: "1" }),
    "as a shard that is a number": good({ shard: 0 }),
    "without a mark": good({ marks: deleteField() }),
    "with no window in the map": good({ marks: {} }),
    "with marks that are a string": good({ marks: "abcd" }),
    "with marks that are a list": good({ marks: [bytes(1, 2, 3, 4)] }),
    "with two windows": good({ marks: { 0: window(nonce()), 1: window(nonce()) } }),
    "with a window g": good({ marks: { g: window(nonce()) } }),
    "with a window 10": good({ marks: { 10: window(nonce()) } }),
    "with a window 07": good({ marks: { "07": window(nonce()) } }),
    "with a window that is a string": good({ marks: { 0: "abcd" } }),
    "with a window that is null": good({ marks: { 0: null } }),
    "with a window without a time": good({ marks: { 0: { nonces: arrayUnion(bytes(1, 2, 3, 4)) } } }),
    "with a window with a time of its own": good({ marks: { 0: { ...window(nonce()), at: Timestamp.fromMillis(0) } } }),
    "with a window without a nonce": good({ marks: { 0: { at: serverTimestamp() } } }),
    "with a window with a foreign field": good({ marks: { 0: { ...window(nonce()), by: 1 } } }),
    "with two nonces": good({ marks: { [NOW]: window(nonce(), nonce()) } }),
    "with no nonce in the list": good({ marks: { 0: { at: serverTimestamp(), nonces: [] } } }),
    "with a nonce of 3 bytes": good({ marks: { [NOW]: window(bytes(1, 2, 3)) } }),
    "with a nonce of 5 bytes": good({ marks: { [NOW]: window(bytes(1, 2, 3, 4, 5)) } }),
    "with a megabyte of a nonce": good({ marks: { 0: window(Bytes.fromUint8Array(new Uint8Array(900_000))) } }),
    "with a nonce that is a string": good({ marks: { [NOW]: window("abcd") } }),
    "with a nonce that is a number": good({ marks: { [NOW]: window(12_345_678) } }),
    "with a nonce that is null": good({ marks: { 0: window(null) } }),
    "with nonces that are a map": good({ marks: { 0: { at: serverTimestamp(), nonces: { 0: bytes(1, 2, 3, 4) } } } }),
  };
  test.each(Object.entries(refused))("is not incremented %s, on a new shard or an old one", async (_, write) => {
    await assertFails(setDoc(shard(anyone), write, merge));
    await asAdmin("counters/views:home/shards/0", {
      count: 1,
      writes: 1,
      at: Timestamp.now(),
      shard: "0",
      marks: { 7: { at: Timestamp.now(), nonces: [bytes(9, 9, 9, 9)] } },
    });
    await assertFails(setDoc(shard(anyone), write, merge));
    expect(await counted("views:home")).toBe(1);
  });

  test.each(["10000", "00", "01", "-1", "1.5", "base", "x", "1e3", " 1"])("has no shard %j", async (id) => {
    await assertFails(setDoc(shard(anyone, id), good({ shard: id }), merge));
  });

  test("refuses the replay of a write, however many others came between", async () => {
    const write = good();
    await assertSucceeds(setDoc(shard(anyone), write, merge));
    await assertFails(setDoc(shard(anyone), write, merge));
    for (let n = 0; n < 20; n++) await assertSucceeds(setDoc(shard(alice), good(), merge));
    await assertFails(setDoc(shard(anyone), write, merge));
    expect(await counted("views:home")).toBe(21);
  });

  test("refuses to drop, move or replace the marks of others, or to replace the whole shard", async () => {
    const [one, other, third] = [nonce(), nonce(), nonce()];
    const old = { at: Timestamp.fromMillis(Date.now() - 600_000), nonces: [one, other] };
    await asAdmin("counters/views:home/shards/0", {
      count: 1,
      writes: 1,
      marks: { [NOW]: old, 8: { ...old, nonces: [one] } },
    });
    const write = (nonces: unknown) => good({ marks: { [NOW]: { at: serverTimestamp(), nonces } } });
    await assertFails(setDoc(shard(anyone), write([third]), merge));
    await assertFails(setDoc(shard(anyone), write([one, third]), merge));
    await assertFails(setDoc(shard(anyone), write([other, one, third]), merge));
    await assertFails(setDoc(shard(anyone), write([third, one, other]), merge));
    await assertFails(setDoc(shard(anyone), { ...good(), count: 2, writes: 2 }));
    await assertFails(updateDoc(shard(anyone), good()));
    await assertFails(setDoc(shard(anyone), good({ marks: { [NOW]: window(third), 8: deleteField() } }), merge));
    await assertSucceeds(setDoc(shard(anyone), write([one, other, third]), merge));
    expect(await counted("views:home")).toBe(2);
  });

  test("takes two increments of one shard in one commit for two, or not at all", async () => {
    const batch = writeBatch(anyone);
    batch.set(shard(anyone), good(), merge);
    batch.set(shard(anyone), good(), merge);
    const accepted = await batch.commit().then(
      () => 2,
      () => 0,
    );
    expect(await counted("views:home")).toBe(accepted);
  });

  test("refuses a copy of another window, and keeps the marks of windows that are alike", async () => {
    const old = { at: Timestamp.fromMillis(Date.now() - 1_000), nonces: [nonce()] };
    await asAdmin("counters/views:home/shards/0", { count: 1, writes: 1, marks: { 0: old } });
    await assertFails(setDoc(shard(anyone), good({ marks: { 1: old } }), merge));
    await asAdmin("counters/views:home/shards/0", { count: 1, writes: 1, marks: { 0: old, 1: old } });
    const only = { at: serverTimestamp(), nonces: [nonce()] };
    await assertFails(setDoc(shard(anyone), good({ marks: { 1: only } }), merge));
    await assertSucceeds(setDoc(shard(anyone), good({ marks: { 2: only } }), merge));
  });

  test("is counted up to 2^53, where numbers are exact, and no further in either direction", async () => {
    for (const count of [2 ** 53 - 1, -(2 ** 53) - 2]) {
      await asAdmin("counters/views:home/shards/0", { count, writes: 1 });
      await assertFails(setDoc(shard(anyone), good(), merge));
    }
    await asAdmin("counters/views:home/shards/0", { count: 2 ** 53 - 2, writes: 1 });
    await assertSucceeds(setDoc(shard(anyone), good(), merge));
  });

  describe("is tidied by anyone", () => {
    const ago = (seconds: number, ...nonces: Bytes[]) => ({
      at: Timestamp.fromMillis(Date.now() - seconds * 1_000),
      nonces,
    });
    const names = Array.from({ length: 16 }, (_, n) => n.toString(16));
    const tidied = { count: 3, writes: 3, shard: "0", at: Timestamp.fromMillis(0) };
    const marked = (marks: object) => asAdmin("counters/views:home/shards/0", { ...tidied, marks });
    const remove = (windows: string[], more: object = {}) =>
      updateDoc(shard(anyone), {
        ...Object.fromEntries(windows.map((name) => [`marks.${name}`, deleteField()])),
        ...more,
      });

    test.each(names)("of window %s, two minutes after its last write and not before", async (name) => {
      await marked({ [name]: ago(110, nonce()) });
      await assertFails(remove([name]));
      await marked({ [name]: ago(121, nonce()) });
      await assertSucceeds(remove([name]));
      expect((await getDoc(shard(anyone))).data()).toEqual({ ...tidied, marks: {} });
    });

    test("of all windows at once, or of some", async () => {
      await marked(Object.fromEntries(names.map((name) => [name, ago(121, nonce())])));
      await assertSucceeds(remove(["0", "f"]));
      await assertSucceeds(updateDoc(shard(anyone), { marks: deleteField() }));
      await assertSucceeds(setDoc(shard(anyone), good(), merge));
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
    test.each(Object.entries(wrong))("but not if the write %s", async (_, write) => {
      await marked(old());
      await assertFails(write());
      expect(await counted("views:home")).toBe(3);
    });

    test("and a window without a time stays", async () => {
      await marked({ 0: { nonces: [nonce()] } });
      await assertFails(remove(["0"]));
    });
  });

  test("has no entries: none is made, and a server's is not deleted", async () => {
    const batch = writeBatch(alice);
    batch.set(entry(alice, "alice", "views:home"), { by: 1, shard: "0", at: serverTimestamp() });
    batch.set(shard(alice), good(), merge);
    await assertFails(batch.commit());
    await asAdmin("counters/views:home/entries/alice", { by: 1, shard: "0", at: Timestamp.now() });
    await assertFails(deleteDoc(entry(alice, "alice", "views:home")));
  });

  test("shows its shards to every client and lets none delete one", async () => {
    await assertSucceeds(setDoc(shard(anyone), good(), merge));
    await assertSucceeds(getDoc(shard(anyone)));
    await assertSucceeds(getDocs(collection(anyone, "counters/views:home/shards")));
    await assertFails(deleteDoc(shard(alice)));
  });
});

/** An increment to a double, which no SDK sends for a whole number. */
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

describe("the counter document", () => {
  test("is read by every client and written by none", async () => {
    await asAdmin("counters/views:home", { total: 1 });
    const ref = doc(anyone, "counters/views:home");
    await assertSucceeds(getDoc(ref));
    await assertFails(setDoc(doc(alice, "counters/new"), { total: 1 }));
    await assertFails(updateDoc(ref, { total: increment(1) }));
    await assertFails(deleteDoc(ref));
  });

  test("and everything outside counters is closed", async () => {
    await assertFails(setDoc(doc(alice, "counters/views:home/other/x"), { a: 1 }));
    await assertFails(getDoc(doc(alice, "posts/1")));
  });
});

describe.each(["likes:post", "votes:post"])("the keyed counter %s", (counter) => {
  /** A batch that likes as `user`, with the parts a test wants to spoil. */
  function like(db: Firestore, user: string, shardId = "0", spoil: { entry?: object; shard?: object } = {}) {
    const batch = writeBatch(db);
    batch.set(entry(db, user, counter), { by: 1, shard: shardId, at: serverTimestamp(), ...spoil.entry });
    batch.set(shard(db, shardId, counter), good({ shard: shardId, ...spoil.shard }), merge);
    return batch;
  }
  function unlike(db: Firestore, user: string, shardId = "0", by = -1) {
    const batch = writeBatch(db);
    batch.delete(entry(db, user, counter));
    batch.set(shard(db, shardId, counter), good({ shard: shardId, count: increment(by) }), merge);
    return batch;
  }

  test("counts once per user, is undone, and counts again", async () => {
    await assertSucceeds(like(alice, "alice").commit());
    await assertSucceeds(like(bob, "bob", "1").commit());
    await assertFails(like(alice, "alice").commit());
    await assertFails(like(alice, "alice", "2").commit());
    expect(await counted(counter)).toBe(2);
    await assertSucceeds(unlike(alice, "alice").commit());
    await assertFails(unlike(alice, "alice").commit());
    expect(await counted(counter)).toBe(1);
    await assertSucceeds(like(alice, "alice", "3").commit());
    expect(await counted(counter)).toBe(2);
  });

  test("is undone even after its shard was folded away", async () => {
    await assertSucceeds(like(alice, "alice", "7").commit());
    await environment.withSecurityRulesDisabled((context) =>
      deleteDoc(shard(context.firestore() as unknown as Firestore, "7", counter)),
    );
    await asAdmin(`counters/${counter}/shards/base`, { count: 1, writes: 1 });
    await assertSucceeds(unlike(alice, "alice", "7").commit());
    expect(await counted(counter)).toBe(0);
  });

  test("takes no plain increment, from anyone", async () => {
    await assertFails(setDoc(shard(anyone, "0", counter), good(), merge));
    await assertFails(setDoc(shard(alice, "0", counter), good(), merge));
    await assertSucceeds(like(alice, "alice").commit());
    await assertFails(setDoc(shard(alice, "0", counter), good(), merge));
    await assertFails(setDoc(shard(alice, "0", counter), good({ count: increment(-1) }), merge));
  });

  test("takes no entry without its increment, nor one with another's", async () => {
    const write = { by: 1, shard: "0", at: serverTimestamp() };
    await assertFails(setDoc(entry(alice, "alice", counter), write));
    await assertSucceeds(like(bob, "bob").commit());
    await assertFails(setDoc(entry(alice, "alice", counter), write));
  });

  test("takes only the user's own key, and none from a client that is signed out", async () => {
    await assertFails(like(alice, "bob").commit());
    await assertFails(like(alice, "anything").commit());
    await assertFails(like(anyone, "alice").commit());
  });

  test("refuses a second increment beside the one of the entry, on the same shard or another", async () => {
    const elsewhere = like(alice, "alice");
    elsewhere.set(shard(alice, "1", counter), good({ shard: "1" }), merge);
    await assertFails(elsewhere.commit());
    const same = like(alice, "alice");
    same.set(shard(alice, "0", counter), good(), merge);
    await assertFails(same.commit());
    expect(await counted(counter)).toBe(0);
  });

  test("refuses an undo that takes twice, or more than was given, or from another shard", async () => {
    await assertSucceeds(like(alice, "alice").commit());
    await assertSucceeds(like(bob, "bob").commit());
    const twice = unlike(alice, "alice");
    twice.set(shard(alice, "1", counter), good({ shard: "1", count: increment(-1) }), merge);
    await assertFails(twice.commit());
    const sameTwice = unlike(alice, "alice");
    sameTwice.set(shard(alice, "0", counter), good({ count: increment(-1) }), merge);
    await assertFails(sameTwice.commit());
    await assertFails(unlike(alice, "alice", "1").commit());
    await assertFails(unlike(alice, "alice", "0", -2).commit());
    expect(await counted(counter)).toBe(2);
  });

  test("refuses an undo without its decrement, and a like and unlike in one commit", async () => {
    await assertSucceeds(like(alice, "alice").commit());
    await assertFails(deleteDoc(entry(alice, "alice", counter)));
    await assertFails(unlike(bob, "alice").commit());
    const swap = unlike(alice, "alice");
    swap.set(entry(alice, "alice", counter), { by: 1, shard: "0", at: serverTimestamp() });
    await assertFails(swap.commit());
    expect(await counted(counter)).toBe(1);
  });

  const spoiled: Record<string, { entry?: object; shard?: object }> = {
    "an entry of 2": { entry: { by: 2 } },
    "an entry of 2 and an increment by 2": { entry: { by: 2 }, shard: { count: increment(2) } },
    "an increment by 2": { shard: { count: increment(2) } },
    "a decrement": { entry: { by: -1 }, shard: { count: increment(-1) } },
    "an entry that names another shard": { entry: { shard: "1" } },
    "an entry that names base": { entry: { shard: "base" } },
    "an entry whose shard is a number": { entry: { shard: 0 } },
    "an entry with a time of its own": { entry: { at: Timestamp.fromMillis(0) } },
    "an entry with a foreign field": { entry: { note: "x" } },
    "no mark": { shard: { marks: {} } },
    "a shard of another name": { shard: { shard: "1" } },
  };
  test.each(Object.entries(spoiled))("refuses %s", async (_, spoil) => {
    await assertFails(like(alice, "alice", "0", spoil).commit());
    expect(await counted(counter)).toBe(0);
  });

  test("shows an entry to its owner alone, and a list to no client", async () => {
    await assertSucceeds(like(alice, "alice").commit());
    await assertSucceeds(getDoc(entry(alice, "alice", counter)));
    await assertFails(getDoc(entry(bob, "alice", counter)));
    await assertFails(getDoc(entry(anyone, "alice", counter)));
    await assertFails(getDocs(collection(alice, `counters/${counter}/entries`)));
  });

  test("never lets an entry be updated", async () => {
    await assertSucceeds(like(alice, "alice").commit());
    await assertFails(updateDoc(entry(alice, "alice", counter), { by: 5 }));
    await assertFails(setDoc(entry(alice, "alice", counter), { by: 1, shard: "0", at: serverTimestamp() }));
  });
});

test("what the backend keeps beside a counter is nobody's to read or write: corrections, its source, its receipts", async () => {
  const correction = { expected: 1, found: 0, by: 1 };
  await asAdmin("counters/views:home", { total: 1 });
  await asAdmin("counters/views:home/corrections/one", correction);
  for (const db of [anyone, alice]) {
    await assertFails(getDoc(doc(db, "counters/views:home/corrections/one")));
    await assertFails(getDocs(collection(db, "counters/views:home/corrections")));
    await assertFails(setDoc(doc(db, "counters/views:home/corrections/two"), correction));
    await assertFails(deleteDoc(doc(db, "counters/views:home/corrections/one")));
    await assertFails(updateDoc(doc(db, "counters/views:home"), { source: { entries: true } }));
    await assertFails(
      setDoc(doc(db, "counters/views:new"), { source: { entries: true }, nextReconcileAt: Timestamp.now() }),
    );
    await assertFails(getDoc(doc(db, "counters/views:home/receipts/x")));
  }
});

test("corrections are read by operators alone, and written by no client", async () => {
  await asAdmin("counters/views:home/corrections/one", { expected: 1, found: 0, by: 1 });
  const as = (claims: Record<string, unknown>) =>
    environment.authenticatedContext("carol", claims).firestore() as unknown as Firestore;
  const operator = as({ operator: true });
  await assertSucceeds(getDoc(doc(operator, "counters/views:home/corrections/one")));
  await assertSucceeds(getDocs(collection(operator, "counters/views:home/corrections")));
  await assertFails(setDoc(doc(operator, "counters/views:home/corrections/two"), { by: 1 }));
  await assertFails(deleteDoc(doc(operator, "counters/views:home/corrections/one")));
  await assertFails(getDoc(doc(operator, "counters/views:home/receipts/x")));
  for (const claims of [{}, { operator: false }, { operator: "true" }, { operator: 1 }, { admin: true }]) {
    await assertFails(getDoc(doc(as(claims), "counters/views:home/corrections/one")));
    await assertFails(getDocs(collection(as(claims), "counters/views:home/corrections")));
  }
});

test("the history of a counter is read by everyone, one by one or a range of it, and written by nobody but the backend", async () => {
  const hours = { points: { 14: { total: 1 } }, expireAt: Timestamp.now() };
  await asAdmin("counters/views:home/history/hours-2026-11-21", hours);
  for (const db of [anyone, alice]) {
    const history = collection(db, "counters/views:home/history");
    const kept = doc(history, "hours-2026-11-21");
    await assertSucceeds(getDoc(kept));
    const found = await assertSucceeds(getDocs(query(history, where(documentId(), ">=", "hours-2026-11-20"))));
    expect(found.docs.map(({ id }) => id)).toEqual(["hours-2026-11-21"]);
    await assertFails(getDocs(collectionGroup(db, "history")));
    await assertFails(setDoc(kept, hours));
    await assertFails(setDoc(kept, { points: { 14: { total: 2 } } }, merge));
    await assertFails(updateDoc(kept, { expireAt: Timestamp.now() }));
    await assertFails(deleteDoc(kept));
    await assertFails(setDoc(doc(history, "hours-2026-11-22"), hours));
  }
});

test("a group is what stands before the first colon: 'likes' alone and 'likesX:1' are open", async () => {
  for (const counter of ["likes", "likesX:1", "x:likes:1", "a\nlikes:1"]) {
    await assertSucceeds(setDoc(shard(anyone, "0", counter), good(), merge));
  }
  await assertFails(setDoc(shard(anyone, "0", "likes:a\nb"), good(), merge));
  await assertFails(setDoc(shard(anyone, "0", "likes:"), good(), merge));
});

describe("coverage: the tests above", () => {
  /** What they cannot reach, and why. */
  const unreachable = [
    // The default policy is that everyone may read.
    "mayRead(counter): never false",
    "mayRead(counter): never false",
    "mayRead(counter): never false",
    // The emulator judges all writes of one document in a commit as one, so it never sees a second.
    "getAfter(/databases/$(database)/documents/counters/$(counter)/shards/$(shard)).data.writes == " +
      "request.resource.data.writes: never false",
    "isOnlyShardWrite(counter, shard): never false",
    "isOnlyShardWrite(counter, shard): never false",
  ];

  test("evaluate every expression of the rules, to true and to false", async () => {
    const gaps = await gapsInRules(PROJECT);
    const isKnown = new Set(unreachable);
    const message = "line by line what no test tries: add one";
    expect(
      gaps.filter(({ what }) => !isKnown.has(what)),
      message,
    ).toEqual([]);
    expect(
      gaps.map(({ what }) => what),
      "a test reaches what the list says none can: take it off",
    ).toEqual(unreachable);
  });

  test("would not pass if a rule were never tried, passed over, or always the same", async () => {
    const project = `${PROJECT}-gaps`;
    const { host, port } = environment.emulators.firestore ?? { host: "", port: 0 };
    const rules = `service cloud.firestore { match /databases/{database}/documents/{path=**} {
      function isOpen() { return request.time == request.time; }
      allow get: if isOpen() || request.auth.uid == 'x';
      allow create: if isOpen();
    } }`;
    const other = await initializeTestEnvironment({ projectId: project, firestore: { host, port, rules } });
    await getDoc(doc(other.unauthenticatedContext().firestore() as unknown as Firestore, "a/b"));
    await other.cleanup();
    expect(await gapsInRules(project)).toEqual([
      { line: 2, what: "request.time == request.time: never false" },
      { line: 3, what: "isOpen() || request.auth.uid == 'x': never false" },
      { line: 3, what: "isOpen: never false" },
      { line: 3, what: "request.auth.uid == 'x': never evaluated" },
      { line: 3, what: "request.auth.uid: never evaluated" },
      { line: 3, what: "request.auth: never evaluated" },
      { line: 3, what: "request: never evaluated" },
      { line: 4, what: "isOpen: never evaluated" },
    ]);
  });
});
