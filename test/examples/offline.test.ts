import { deleteApp, getApp } from "firebase/app";
import { connectFirestoreEmulator } from "firebase/firestore";
import { counter, getCounter, getCounterRank, getIncremented, incrementCounter, undoIncrement } from "firestore-tally";
import { expect, test, vi } from "vitest";
import { goOffline, goOnline } from "../../testkit/offline.ts";
import { projectWithFunctions, setUpProjects, until } from "./project.ts";

setUpProjects();

test("claps show at once, and count when the device is back online", async () => {
  const { total } = await projectWithFunctions("offline");
  // The example's Firestore takes the place of the one that every project opens.
  await deleteApp(getApp());
  const { db } = await import("../../examples/offline/persistent.ts");
  const [host = "", port] = (process.env.FIRESTORE_EMULATOR_HOST as string).split(":");
  connectFirestoreEmulator(db, host, Number(port));
  const { clap, showClaps } = await import("../../examples/offline/claps.ts");
  const shown: string[] = [];
  const failed = vi.fn();
  const stop = showClaps("keynote", (text) => shown.push(text));
  await until(() => expect(shown.at(-1)).toBe("0"));
  await goOffline(db);
  clap("keynote", failed);
  clap("keynote", failed);
  await until(() => expect(shown.at(-1)).toBe("2, sending, offline"));
  await goOnline(db);
  await until(() => expect(shown.at(-1)).toBe("2"));
  expect(await total("claps:keynote")).toBe(2);
  expect(failed).not.toHaveBeenCalled();
  stop();
});

test("offline, a call that needs the server rejects with unavailable", async () => {
  const { db } = await projectWithFunctions("offline");
  await goOffline(db);
  const votes = counter(db, "votes:keynote");
  for (const attempt of [getCounter, getCounterRank]) {
    await expect(attempt(votes)).rejects.toMatchObject({ code: "unavailable" });
  }
  for (const attempt of [getIncremented, undoIncrement]) {
    await expect(attempt(votes, "ada")).rejects.toMatchObject({ code: "unavailable" });
  }
  await goOnline(db);
  await incrementCounter(counter(db, "claps:keynote"));
});
