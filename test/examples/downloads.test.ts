import { counter, incrementCounter } from "firestore-tally";
import { expect, test } from "vitest";
import { newProject, projectWithFunctions, refused, setUpProjects } from "./project.ts";

setUpProjects();

test("a server counts every call, and with `once` each request once", async () => {
  const { total } = await projectWithFunctions();
  const { countDownload, countDownloadOnce } = await import("../../examples/downloads/downloads.ts");
  await Promise.all(Array.from({ length: 5 }, () => countDownload("setup.exe")));
  await Promise.all(["a", "b", "a"].map((request) => countDownloadOnce("setup.exe", request)));
  await countDownloadOnce("setup.exe", "b");
  expect(await total("downloads:setup.exe")).toBe(7);
});

test("the default rules leave the group to servers", async () => {
  const { db } = await newProject();
  await refused(incrementCounter(counter(db, "downloads:x")));
  await incrementCounter(counter(db, "views:x"));
  await refused(incrementCounter(counter(db, "views:x"), 2));
});
