import { expect, test } from "vitest";
import { projectWithFunctions, setUpProjects } from "./project.ts";

setUpProjects();

test("a server counts every call, and with `once` each request once", async () => {
  const { total } = await projectWithFunctions();
  const { countDownload, countDownloadOnce } = await import("../../examples/downloads/downloads.ts");
  await Promise.all(Array.from({ length: 5 }, () => countDownload("setup.exe")));
  await Promise.all(["a", "b", "a"].map((request) => countDownloadOnce("setup.exe", request)));
  await countDownloadOnce("setup.exe", "b");
  expect(await total("downloads:setup.exe")).toBe(7);
});
