import { expect, test } from "vitest";
import { wholeSum } from "./sum.ts";

const NOTHING = { total: null, writes: null, documents: 0 };

test.each<[what: string, answer: Parameters<typeof wholeSum>[0], documents: number, sum: object | undefined]>([
  ["of no shards on Enterprise", NOTHING, 0, { total: 0, writes: 0, documents: 0 }],
  ["of no shards on Standard", { ...NOTHING, total: 0, writes: 0 }, 0, { total: 0, writes: 0, documents: 0 }],
  ["of shards without numbers", { ...NOTHING, documents: 2 }, 2, { total: 0, writes: 0, documents: 2 }],
  ["of shards", { total: 7, writes: 3, documents: 2 }, 2, { total: 7, writes: 3, documents: 2 }],
  ["without some documents", { total: 7, writes: 3, documents: 2 }, 3, undefined],
  ["that overflows", { total: Number.POSITIVE_INFINITY, writes: 3, documents: 2 }, 2, undefined],
  ["that is NaN", { total: 7, writes: Number.NaN, documents: 2 }, 2, undefined],
])("the sum %s", (_what, answer, documents, sum) => {
  expect(wholeSum(answer, documents)).toEqual(sum);
});
