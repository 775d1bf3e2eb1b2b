/** What clients may write to `uniques`: the hash of their own uid, and nothing else. */
import { assertFails, assertSucceeds } from "@firebase/rules-unit-testing";
import {
  arrayRemove,
  arrayUnion,
  collection,
  deleteDoc,
  doc,
  type Firestore,
  getDoc,
  getDocs,
  increment,
  setDoc,
  updateDoc,
  writeBatch,
} from "firebase/firestore";
import { describe, expect, test } from "vitest";
import { visitorHash } from "../../core/src/index.ts";
import {
  alice,
  anyone,
  bob,
  environment,
  incrementData,
  merge,
  newEnvironment,
  PROJECT,
  shard,
  writeAsAdmin,
} from "./environment.ts";

const ALICE = await visitorHash("alice");
const BOB = await visitorHash("bob");

const bucket = (db: Firestore, id: string, counter = "views:home") => doc(db, `counters/${counter}/uniques/${id}`);
const visit = (db: Firestore, hash: unknown, id = String(hash)[0] as string, counter?: string) =>
  setDoc(bucket(db, id, counter), { visitors: arrayUnion(hash) }, merge);

async function visitorsIn(id: string): Promise<string[]> {
  let visitors: string[] = [];
  await environment.withSecurityRulesDisabled(async (context) => {
    visitors = (await getDoc(bucket(context.firestore() as unknown as Firestore, id))).get("visitors") ?? [];
  });
  return visitors;
}

describe("a visitor", () => {
  test("adds the hash of their own uid, to the bucket of one digit or two, once", async () => {
    await assertSucceeds(visit(alice, ALICE));
    await assertSucceeds(visit(alice, ALICE));
    await assertSucceeds(visit(alice, ALICE, ALICE.slice(0, 2)));
    expect(await visitorsIn(ALICE[0] as string)).toEqual([ALICE]);
  });

  test("is added after those of others", async () => {
    const other = `${ALICE[0]}000000000000000`;
    await writeAsAdmin(`counters/views:home/uniques/${ALICE[0]}`, { visitors: [other] });
    await assertSucceeds(visit(alice, ALICE));
    expect(await visitorsIn(ALICE[0] as string)).toEqual([other, ALICE]);
  });

  test("is counted in one commit with a view", async () => {
    const batch = writeBatch(alice);
    batch.set(shard(alice), incrementData(), merge);
    batch.set(bucket(alice, ALICE[0] as string), { visitors: arrayUnion(ALICE) }, merge);
    await assertSucceeds(batch.commit());
  });

  test.each(["likes:post", "home", "visitor:home"])("is refused where visitors are not counted: %s", (counter) =>
    assertFails(visit(alice, ALICE, undefined, counter)),
  );

  test("is refused without a user", () => assertFails(visit(anyone, ALICE)));

  test("is refused with another's hash", async () => {
    await assertFails(visit(bob, ALICE));
    await assertFails(setDoc(bucket(bob, BOB[0] as string), { visitors: arrayUnion(BOB, ALICE) }, merge));
  });

  test.each([ALICE.slice(0, 3), "g", "0", "00", "base", BOB[0] as string])("is refused in the bucket %s", (id) =>
    assertFails(visit(alice, ALICE, id)),
  );

  test.each([1, "", "alice", ALICE.toUpperCase(), ALICE.slice(0, 15), `${ALICE}0`, { hash: ALICE }, true])(
    "is refused as %j",
    (hash) => assertFails(visit(alice, hash, ALICE[0])),
  );

  test("is refused in any other form", async () => {
    const own = bucket(alice, ALICE[0] as string);
    await assertFails(setDoc(own, { visitors: ALICE }));
    await assertFails(setDoc(own, { visitors: { [ALICE]: 1 } }));
    await assertFails(setDoc(own, { visitors: [ALICE, ALICE] }));
    await assertFails(setDoc(own, { visitors: increment(1) }));
    await assertFails(setDoc(own, {}));
    await assertFails(setDoc(own, { visitors: [ALICE], at: 1 }));
  });

  test("neither removes nor replaces nor reorders others", async () => {
    const others = [`${ALICE[0]}000000000000000`, `${ALICE[0]}111111111111111`];
    await writeAsAdmin(`counters/views:home/uniques/${ALICE[0]}`, { visitors: others });
    const own = bucket(alice, ALICE[0] as string);
    await assertFails(setDoc(own, { visitors: [ALICE] }));
    await assertFails(setDoc(own, { visitors: [others[0], ALICE] }));
    await assertFails(setDoc(own, { visitors: [ALICE, ...others] }));
    await assertFails(updateDoc(own, { visitors: arrayRemove(others[0]) }));
    await assertFails(updateDoc(own, { visitors: [others[0], ALICE] }));
    await assertFails(deleteDoc(own));
  });

  test("cannot mend what a server has damaged", async () => {
    await writeAsAdmin(`counters/views:home/uniques/${ALICE[0]}`, { visitors: "none" });
    await assertFails(visit(alice, ALICE));
  });

  test("is refused beyond 20,000 that were not merged", async () => {
    // In a project of its own: a report of coverage has every value of every expression.
    const project = await newEnvironment(`${PROJECT}-many`);
    const visitor = project.authenticatedContext("alice").firestore() as unknown as Firestore;
    const many = Array.from({ length: 20_000 }, (_, i) => `${ALICE[0]}${String(i).padStart(15, "0")}`);
    await writeAsAdmin(`counters/views:home/uniques/${ALICE[0]}`, { visitors: many }, project);
    await assertFails(visit(visitor, ALICE));
    await writeAsAdmin(`counters/views:home/uniques/${ALICE[0]}`, { visitors: many.slice(1) }, project);
    await assertSucceeds(visit(visitor, ALICE));
    await project.cleanup();
  });
});

describe("who has been there", () => {
  test("is read by no client, not even the visitor's", async () => {
    await writeAsAdmin(`counters/views:home/uniques/${ALICE[0]}`, { visitors: [ALICE] });
    await assertFails(getDoc(bucket(alice, ALICE[0] as string)));
    await assertFails(getDocs(collection(alice, "counters/views:home/uniques")));
  });

  test("by design: is told to a client that guesses all who wait in a bucket", async () => {
    const other = `${ALICE[0]}000000000000000`;
    const guess = (...visitors: string[]) => setDoc(bucket(alice, ALICE[0] as string), { visitors });
    await writeAsAdmin(`counters/views:home/uniques/${ALICE[0]}`, { visitors: [other] });
    await assertFails(guess(ALICE));
    await assertSucceeds(guess(other, ALICE));
  });

  test("is in the sketch, which operators alone read and clients do not write", async () => {
    const sketch = (db: Firestore) => doc(db, "counters/views:home/sketches/uniques");
    await writeAsAdmin("counters/views:home/sketches/uniques", { format: "sparse" });
    await assertFails(getDoc(sketch(alice)));
    const operator = environment.authenticatedContext("olga", { operator: true }).firestore();
    await assertSucceeds(getDoc(sketch(operator as unknown as Firestore)));
    await assertFails(setDoc(sketch(operator as unknown as Firestore), { format: "dense" }));
  });
});
