import { expect, test } from "vitest";
import manifest from "../../../client/package.json" with { type: "json" };
import { changesFor, RELEASES } from "./releases.ts";

test("the newest release is this version", () => {
  expect(RELEASES.at(-1)?.version).toBe(manifest.version);
});

test("what changes for clients is told of each version in between", () => {
  const releases = ["0.1.0", "0.9.0", "0.10.0", "1.0.0"].map((version) => ({ version, clients: [`in ${version}`] }));
  expect(changesFor("0.1.0", "0.10.0", releases)).toEqual(["0.9.0: in 0.9.0", "0.10.0: in 0.10.0"]);
  expect(changesFor("1.0.0", "1.0.0", releases)).toEqual([]);
});
