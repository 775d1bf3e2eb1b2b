/**
 * The default rules: what they accept and what they reject. The parts register their tests here, because the coverage at the
 * end is that of one run over all of them.
 */
import { assertFails, assertSucceeds, initializeTestEnvironment } from "@firebase/rules-unit-testing";
import {
  collection,
  collectionGroup,
  deleteDoc,
  doc,
  documentId,
  type Firestore,
  getDoc,
  getDocs,
  increment,
  query,
  setDoc,
  Timestamp,
  updateDoc,
  where,
} from "firebase/firestore";
import { describe, expect, test } from "vitest";
import { gapsInRules } from "../../testkit/ruleCoverage.ts";
import { alice, anyone, environment, incrementData, merge, PROJECT, shard, writeAsAdmin } from "./environment.ts";
import "./openCounter.ts";
import "./keyedCounter.ts";
import "./stock.ts";
import "./topKeys.ts";
import "./visitors.ts";
import "./limits.ts";

describe("the counter document", () => {
  test("is read by every client and written by none", async () => {
    await writeAsAdmin("counters/views:home", { total: 1 });
    const ref = doc(anyone, "counters/views:home");
    await assertSucceeds(getDoc(ref));
    await assertFails(setDoc(doc(alice, "counters/new"), { total: 1 }));
    await assertFails(updateDoc(ref, { total: increment(1) }));
    await assertFails(deleteDoc(ref));
  });

  test("opens no other collection", async () => {
    await assertFails(setDoc(doc(alice, "counters/views:home/other/x"), { a: 1 }));
    await assertFails(getDoc(doc(alice, "posts/1")));
  });
});

test("clients neither read nor write what the backend stores beside a counter: corrections, sources and receipts", async () => {
  const correction = { expected: 1, found: 0, by: 1 };
  await writeAsAdmin("counters/views:home", { total: 1 });
  await writeAsAdmin("counters/views:home/corrections/one", correction);
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
  await writeAsAdmin("counters/views:home/corrections/one", { expected: 1, found: 0, by: 1 });
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

test("every client reads the history of a counter, by document or by range, and none writes it", async () => {
  const hours = { points: { 14: { total: 1 } }, expireAt: Timestamp.now() };
  await writeAsAdmin("counters/views:home/history/hours-2026-11-21", hours);
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

test("the group of a counter ends at the first colon of its id: 'likes' and 'likesX:1' are open", async () => {
  for (const counter of ["likes", "likesX:1", "x:likes:1", "a\nlikes:1"]) {
    await assertSucceeds(setDoc(shard(anyone, "0", counter), incrementData(), merge));
  }
  await assertFails(setDoc(shard(anyone, "0", "likes:a\nb"), incrementData(), merge));
  await assertFails(setDoc(shard(anyone, "0", "likes:"), incrementData(), merge));
});

describe("coverage", () => {
  /** Outcomes that no test of this project can reach, and why. */
  const unreachable = [
    // The default policy lets every client read.
    "mayRead(counter): never false",
    "mayRead(counter): never false",
    "mayRead(counter): never false",
    "mayRead(counter): never false",
    // The emulator applies the rules to several writes of one document in a commit as one.
    "getAfter(/databases/$(database)/documents/counters/$(counter)/shards/$(shard)).data.writes == " +
      "request.resource.data.writes: never false",
    "isOnlyShardWrite(counter, shard): never false",
    "isOnlyShardWrite(counter, shard): never false",
    // Tested in a project of its own (`visitors.ts`).
    "after.visitors.size() <= 20000: never false",
    "getAfter(request.path).data == request.resource.data: never false",
  ];

  test("these tests evaluate every expression of the rules, to true and to false", async () => {
    const gaps = await gapsInRules(PROJECT);
    const isKnown = new Set(unreachable);
    const message = "add a test for each of these expressions";
    expect(
      gaps.filter(({ what }) => !isKnown.has(what)),
      message,
    ).toEqual([]);
    expect(
      gaps.map(({ what }) => what),
      "a test reaches an outcome in the list `unreachable`: remove it there",
    ).toEqual(unreachable);
  });

  test("expressions that are never evaluated, or always have the same value, are reported", async () => {
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
