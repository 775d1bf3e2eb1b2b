import fc from "fast-check";
import { expect, test } from "vitest";
import { defaults, idle } from "./config.fixture.ts";
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
const foreign = ["base", "", "-1", "01", "1.5", "1e3", "10000", " 7", "0x7", "seven"];
/** Of a counter that is written to. */
const busy = (shardCount: number) => ({ shardCount, rate: 1 });

test("a shard is surplus from the shard count on", () => {
  expect([isSurplus(shard("7"), 8), isSurplus(shard("8"), 8)]).toEqual([false, true]);
  fc.assert(fc.property(fc.nat(9_999), fc.nat(9_999), (i, count) => isSurplus(shard(String(i)), count) === i >= count));
});

test.each(foreign)("%j is nobody's surplus: never folded, however long it has been quiet", (id) => {
  expect(isSurplus(shard(id), 1)).toBe(false);
  expect(foldable(measurement([shard(id, 1e12)]), busy(1), defaults)).toEqual([]);
  expect(foldable(measurement([shard(id, 1e12)]), idle, defaults)).toEqual([]);
});

test("of a counter that is written to, every surplus shard that has been quiet for the cool-down may be folded, and no other", () => {
  const quiet = fc.constantFrom(0, defaults.shrinkCooldown - 1, defaults.shrinkCooldown, defaults.shrinkCooldown + 1);
  const ids = fc.oneof(fc.nat(9_999).map(String), fc.nat(20).map(String), fc.constantFrom(...foreign));
  const shards = fc.array(fc.tuple(ids, quiet), { maxLength: 40 });
  fc.assert(
    fc.property(shards, fc.integer({ min: 1, max: 20 }), (some, shardCount) => {
      const expected = some.filter(
        ([id, age]) => !foreign.includes(id) && !(Number(id) < shardCount) && age >= defaults.shrinkCooldown,
      );
      const folded = foldable(measurement(some.map(([id, age]) => shard(id, age))), busy(shardCount), defaults);
      expect(folded).toEqual(expected.map(([id, age]) => shard(id, age)));
    }),
  );
});

test("of one that is idle and has shrunk, every quiet shard but 0 and base is folded, the fewest there may be included", () => {
  const shards = ["base", "0", "1", "4", "9999"].map((id) => shard(id, defaults.shrinkCooldown));
  const folded = (counter: Parameters<typeof foldable>[1], config = defaults) =>
    foldable(measurement([...shards, shard("5", defaults.shrinkCooldown - 1)]), counter, config).map(({ id }) => id);
  expect(folded(idle)).toEqual(["1", "4", "9999"]);
  const wide = { ...defaults, minShards: 5 };
  expect(folded({ ...idle, shardCount: 5 }, wide)).toEqual(["1", "4", "9999"]);
  expect(folded({ ...idle, shardCount: 5, rate: 0.1 }, wide)).toEqual(["9999"]);
  expect(folded({ ...idle, shardCount: 6 }, wide)).toEqual(["9999"]);
});
