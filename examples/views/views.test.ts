/** How an app tests its counters. Run it with `firebase emulators:exec`: see docs/guide/testing.md. */
import { counter } from "firestore-tally";
import { prepareFirestore } from "firestore-tally/testing";
import { beforeEach, expect, test } from "vitest";
import { connectEmulators } from "../setup/emulators.ts";
import { db } from "../setup/firebase.ts";
import { countView } from "./views.ts";

connectEmulators();
const firestore = await prepareFirestore();
beforeEach(() => firestore.clear());

test("three views count", async () => {
  for (let views = 0; views < 3; views++) await countView("home");
  expect(await firestore.settled(counter(db, "views:home"))).toBe(3);
}, 20_000);
