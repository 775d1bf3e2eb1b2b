import fc from "fast-check";
import { expect, test } from "vitest";
import { defaults } from "./config.fixture.ts";
import { toTimestamp } from "./counter.ts";
import { foldable, isSurplus } from "./fold.ts";
import type { MeasuredShard, Measurement } from "./measure.ts";

const now = 1_700_000_000_000;
const ago = (duration: number) => toTimestamp(now - duration);
const shard = (id: string, quiet = defaults.shrinkCooldown): MeasuredShard => ({
  id,
  count: 1,
  writes: 1,
  updatedAt: ago(quiet),
});
const measurement = (shards: MeasuredShard[]): Measurement => ({
  total: 0,
  writes: 0,
  asOf: toTimestamp(now),
  shards,
  malformed: [],
});
const foreign = ["base", "", "-1", "01", "1.5", "1e3", "10000", " 7", "0x7", "seven", "add", "subs-1"];

test("a shard is surplus from the shard count on", () => {
  expect([isSurplus(shard("7"), 8), isSurplus(shard("8"), 8)]).toEqual([false, true]);
  fc.assert(fc.property(fc.nat(9_999), fc.nat(9_999), (i, count) => isSurplus(shard(String(i)), count) === i >= count));
});

test("the register of a process is surplus whatever the shard count", () => {
  for (const id of ["add-x7", "sub-x7"]) expect(isSurplus(shard(id), 10_000)).toBe(true);
});

test.each(foreign)("%j is nobody's surplus: never folded, however long it has been quiet", (id) => {
  expect(isSurplus(shard(id), 1)).toBe(false);
  expect(foldable(measurement([shard(id, 1e12)]), 1, defaults)).toEqual([]);
});

test("what may be folded is every surplus shard that has been quiet for the cool-down, and nothing else", () => {
  const quiet = fc.constantFrom(0, defaults.shrinkCooldown - 1, defaults.shrinkCooldown, defaults.shrinkCooldown + 1);
  const ids = fc.oneof(
    fc.nat(9_999).map(String),
    fc.nat(20).map(String),
    fc.constantFrom("add-x", "sub-x", ...foreign),
  );
  const shards = fc.array(fc.tuple(ids, quiet), { maxLength: 40 });
  fc.assert(
    fc.property(shards, fc.integer({ min: 1, max: 20 }), (some, shardCount) => {
      const expected = some.filter(
        ([id, age]) => !foreign.includes(id) && !(Number(id) < shardCount) && age >= defaults.shrinkCooldown,
      );
      const folded = foldable(measurement(some.map(([id, age]) => shard(id, age))), shardCount, defaults);
      expect(folded).toEqual(expected.map(([id, age]) => shard(id, age)));
    }),
  );
});
