import { expect, test } from "vitest";
import { choose, parseGroups } from "./choice.ts";

test("what no option gives has its default", async () => {
  expect(await choose({}, false)).toEqual({
    ...{ open: ["views"], once: ["likes"], stock: [], visitors: [], limits: false, collection: "counters" },
    ...{ packaging: "codebase", location: "us-central1", database: "(default)", edition: "standard" },
  });
});

test("what the rules have already is the default of a second time", async () => {
  const current = {
    open: ["claps"],
    once: [],
    stock: ["seats"],
    visitors: ["claps"],
    limits: true,
    collection: "tallies",
  };
  expect(await choose({ once: "votes" }, false, current)).toMatchObject({ ...current, once: ["votes"] });
});

test("the functions run beside the database, which must be somewhere", async () => {
  expect((await choose({ location: "eur3" }, false)).location).toBe("europe-west1");
  await expect(choose({ location: "europe" }, false)).rejects.toThrow('--location "europe" is no location');
});

test.each([
  ["none", []],
  ["views", ["views"]],
  [" views, claps,views ", ["views", "claps"]],
])("%j are the groups %j", (list, groups) => {
  expect(parseGroups("open", list)).toEqual(groups);
});

test.each(["", "views:", "a b", "views,,claps", "it's", "a\\", "a/b"])("%j are no groups", (list) => {
  expect(() => parseGroups("open", list)).toThrow("--open ");
});

test("a group counts in one way", async () => {
  await expect(choose({ open: "likes" }, false)).rejects.toThrow("likes is in two of --open, --once and --stock");
  await expect(choose({ once: "seats", stock: "seats" }, false)).rejects.toThrow("seats is in two of");
  await expect(choose({ open: "seats", stock: "seats" }, false)).rejects.toThrow("seats is in two of");
});
