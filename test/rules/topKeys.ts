/** Top keys: clients read what is published, as they read the total, and write nothing. */
import { assertFails, assertSucceeds } from "@firebase/rules-unit-testing";
import { collection, deleteDoc, doc, type Firestore, getDoc, getDocs, setDoc } from "firebase/firestore";
import { describe, expect, test } from "vitest";
import { alice, anyone, environment, writeAsAdmin } from "./environment.ts";

const SUMMARY = "counters/searches/sketches/keySummary";
const TOP = "counters/searches/sketches/topKeys";
const WAITING = "counters/searches/keyCounts/x";

const operator = () => environment.authenticatedContext("olga", { operator: true }).firestore() as unknown as Firestore;

describe("top keys", () => {
  test("are read by every client that may read the total", async () => {
    await writeAsAdmin(TOP, { top: [{ key: "a", count: 1, error: 0 }], total: 1 });
    for (const db of [anyone, alice]) {
      expect((await assertSucceeds(getDoc(doc(db, TOP)))).get("total")).toBe(1);
      await assertFails(getDocs(collection(db, "counters/searches/sketches")));
    }
  });

  test("are read with the whole summary by operators alone, and by no client while they wait", async () => {
    for (const path of [SUMMARY, WAITING]) await writeAsAdmin(path, { total: 1 });
    for (const db of [anyone, alice]) await assertFails(getDoc(doc(db, SUMMARY)));
    await assertSucceeds(getDoc(doc(operator(), SUMMARY)));
    for (const db of [anyone, alice, operator()]) {
      await assertFails(getDoc(doc(db, WAITING)));
      await assertFails(getDocs(collection(db, "counters/searches/keyCounts")));
    }
  });

  test("are written by no client", async () => {
    for (const path of [SUMMARY, TOP, WAITING]) {
      await assertFails(setDoc(doc(operator(), path), { total: 1 }));
      await writeAsAdmin(path, { total: 1 });
      for (const db of [anyone, alice, operator()]) {
        await assertFails(setDoc(doc(db, path), { total: 2 }));
        await assertFails(deleteDoc(doc(db, path)));
      }
    }
  });
});
