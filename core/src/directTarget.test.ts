import { expect, test } from "vitest";
import { type DirectTarget, directTarget, type ReadDirect } from "./directTarget.ts";
import { MAX_DIRECT_MARKS } from "./layout.ts";

const at = (millis: number) => ({ toMillis: () => 1_767_225_600_000 + millis });
const nonces = (count: number) => Array.from({ length: count }, (_, n) => n);

/** An open document in generation 7, whose slot is 7. @param millis  from the last write of the generation before */
function opened(marks: number, millis?: number): ReadDirect {
  const before = millis !== undefined && { 6: { at: at(0), nonces: nonces(MAX_DIRECT_MARKS) } };
  return { open: true, generation: 7, marks: { ...before, 7: { at: at(millis ?? 0), nonces: nonces(marks) } } };
}

test.each<[what: string, direct: ReadDirect, generation: number | undefined]>([
  ["no document", null, 0],
  ["a document without the field", undefined, undefined],
  ["a field without its parts", {}, undefined],
  ["a closed document", { ...opened(1), open: false }, undefined],
  ["an open document without marks", { open: true, generation: 7 }, 7],
  ["one mark", opened(1, 0), 7],
  ["three marks, however fast", opened(3, 1), 7],
  ["four marks, and none of the generation before", opened(4), 8],
  ["four marks a minute later", opened(4, 60_001), 8],
  ["four marks a minute later to the millisecond, which may be less to the microsecond", opened(4, 60_000), undefined],
  ["four marks sooner", opened(4, 59_000), undefined],
  ["nonces that are no list", { open: true, generation: 7, marks: { 7: { at: at(0), nonces: 4 as never } } }, 7],
])("%s", (_, direct, generation) => {
  expect(directTarget(direct)._generation).toBe(generation);
});

test.each([
  [59_000, 0],
  [12_000, 1],
  [6_000, 1],
  [1_000, 6],
  [100, 60],
  [1, 150],
  [0, 150],
])("a generation that was full after %i ms calls for %i shards", (millis, shards) => {
  expect(directTarget(opened(4, millis))).toEqual({ _shards: shards });
});

test.each<[what: string, direct: ReadDirect, way: DirectTarget]>([
  ["no document", null, { _generation: 0, _room: 40 }],
  ["three marks", opened(3, 1_000), { _generation: 7, _room: 37 }],
  ["four marks, however fast", opened(4, 1), { _generation: 7, _room: 36 }],
  ["four marks a minute later", opened(4, 60_001), { _generation: 8, _room: 40 }],
  ["forty marks", opened(40, 1_000), { _generation: 8, _room: 40 }],
])("without functions, %s", (_, direct, way) => {
  expect(directTarget(direct, true)).toEqual(way);
});

test("more than four marks tell that there are no functions", () => {
  expect(directTarget(opened(5, 1_000))).toEqual({ _generation: 7, _room: 35 });
  expect(directTarget(opened(40, 1_000))).toEqual({ _generation: 8, _room: 40 });
});

test("without functions, the next generation does not begin beside a write of this client that has no timestamp", () => {
  const pending = (marks: number): ReadDirect => {
    const direct = opened(marks, 1_000) as NonNullable<ReadDirect>;
    return { ...direct, marks: { ...direct.marks, 7: { at: null, nonces: nonces(marks) } } };
  };
  expect(directTarget(pending(39), true)._generation).toBe(7);
  expect(directTarget(pending(40), true)).toEqual({});
});

test("a document that is not full, or closed, calls for no shards", () => {
  for (const direct of [null, undefined, opened(3, 1), { ...opened(4, 1), open: false }])
    expect(directTarget(direct)._shards).toBeUndefined();
});
