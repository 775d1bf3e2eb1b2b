import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_SHARDS } from "../../../core/src/index.ts";
import type { ListedShard } from "../../../firestore/src/index.ts";
import { toTimestamp } from "./fields.ts";
import { foldableShards, shardIndex } from "./shards.ts";

describe("the index of a shard", () => {
  test("is its number, for each of 0 to 9,999", () => {
    fc.assert(fc.property(fc.nat(MAX_SHARDS - 1), (n) => shardIndex(String(n)) === n));
    expect([shardIndex("0"), shardIndex("9999")]).toEqual([0, 9_999]);
  });

  test("is undefined for every id that is not such a number written plainly", () => {
    for (const id of ["base", "", "00", "01", "-1", "+1", "1.0", "1e3", "10000", "1\n", " 1", "١"]) {
      expect(shardIndex(id)).toBeUndefined();
    }
    fc.assert(fc.property(fc.string(), (id) => shardIndex(id) === undefined || String(shardIndex(id)) === id));
  });
});

const quietSince = 1_700_000_000_000;
const shard = (id: string, quietFor = 0): ListedShard => ({
  id,
  count: 1,
  writes: 1,
  updatedAt: toTimestamp(quietSince - quietFor),
});
const foreign = ["base", "", "-1", "01", "1.5", "1e3", "10000", " 7", "0x7", "seven"];

test("every client's shard from an index on that was not written since an instant may be folded, and no other", () => {
  const quiet = fc.constantFrom(-1_000, -0.001, 0, 0.001, 1_000);
  const ids = fc.oneof(fc.nat(9_999).map(String), fc.nat(20).map(String), fc.constantFrom(...foreign));
  fc.assert(
    fc.property(fc.array(fc.tuple(ids, quiet), { maxLength: 40 }), fc.nat(20), (some, from) => {
      const expected = some.filter(([id, age]) => !foreign.includes(id) && Number(id) >= from && age >= 0);
      const folded = foldableShards(
        some.map(([id, age]) => shard(id, age)),
        from,
        quietSince,
      );
      expect(folded).toEqual(expected.map(([id, age]) => shard(id, age)));
    }),
  );
});

test("of a bounded counter, a shard with units is not folded: no client can take them from base", () => {
  const shards = ["1", "2"].map((id) => ({ ...shard(id), count: Number(id) - 1 }));
  expect(foldableShards(shards, 1, quietSince, true).map(({ id }) => id)).toEqual(["1"]);
  expect(foldableShards(shards, 1, quietSince).map(({ id }) => id)).toEqual(["1", "2"]);
});
