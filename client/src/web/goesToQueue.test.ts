import { expect, test } from "vitest";
import { goesToQueue } from "./goesToQueue.ts";

const LATER = { _once: "later", _isUndo: false } as const;
const UNDO = { _once: "first", _isUndo: true } as const;
const FIRST = { _once: "first", _isUndo: false } as const;
const WITHOUT = { _once: undefined, _isUndo: false } as const;
const ANY = [true, false];

test.each([
  ["an undo", UNDO, ANY, ANY, ANY, "queue"],
  ["a later call with once", LATER, ANY, ANY, ANY, "queue"],
  ["the first call with once, calm", FIRST, ANY, ANY, [true], "queue"],
  ["the first call with once, in a crowd", FIRST, ANY, [true], [false], "transaction"],
  ["the first call with once, of a counter that could not be read", FIRST, ANY, [false], [false], "queue"],
  ["an increment of a watched counter, calm", WITHOUT, [true], ANY, [true], "queue"],
  ["an increment of a watched counter, in a crowd", WITHOUT, [true], ANY, [false], "transaction"],
  ["an increment of a counter that is not watched", WITHOUT, [false], ANY, ANY, "transaction"],
] as const)("%s", (_name, call, watched, read, calm, way) => {
  for (const _isShown of watched)
    for (const _isRead of read)
      for (const _isCalm of calm) {
        const isQueued = goesToQueue({ ...call, _isShown, _isRead, _isCalm });
        expect(isQueued ? "queue" : "transaction").toBe(way);
      }
});
