import { expect, test } from "vitest";
import { confirmationWord, parseSelection } from "./selection.ts";

test("either counters or a group are selected: not both, not neither", () => {
  expect(() => parseSelection([], {})).toThrow("--group");
  expect(() => parseSelection(["a"], { group: "g" })).toThrow("--group");
  expect(parseSelection(["a"], {}).ids).toEqual(["a"]);
  expect(() => parseSelection(["a"], { ungrouped: true })).toThrow("--group");
  expect(() => parseSelection([], { group: "g", ungrouped: true })).toThrow("--group");
  expect(parseSelection([], { group: "g" }).group).toBe("g");
});

test("counters without a group are selected by --ungrouped, not by an empty name", () => {
  expect(() => parseSelection([], { group: "" })).toThrow("--ungrouped");
  expect(parseSelection([], { ungrouped: true })).toEqual({ ids: [], group: "", after: undefined });
});

test("to delete a group, or all counters without one, its name must be typed", () => {
  expect(confirmationWord(parseSelection([], { group: "likes" }))).toBe("likes");
  expect(confirmationWord(parseSelection([], { ungrouped: true }))).toBe("ungrouped");
  expect(confirmationWord(parseSelection(["a"], {}))).toBe(undefined);
});

test("--after skips finished counters, and must be one of the named ones", () => {
  expect(parseSelection(["c", "a", "b"], { after: "a" }).ids).toEqual(["b"]);
  expect(() => parseSelection(["a"], { after: "x" })).toThrow("--after x");
});
