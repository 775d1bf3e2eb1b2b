/** Writes of old clients, which have the recipe of Firebase's documentation, and ways to write what they must not. */
import type { Fields, Value, Write } from "../rest.ts";
import { AMOUNTS } from "./corruptions.ts";
import { FOREIGN_SHARD_IDS, SHARD_IDS } from "./oracle.ts";
import { integer } from "./values.ts";
import { type BatchContext, choose, text } from "./writes.ts";

export function oldUpdate(counter: string, shard: string, by: Value = integer(1), set: Fields = {}): Write {
  return {
    ...{ path: `${counter}/shards/${shard}`, set, mask: Object.keys(set), precondition: { exists: true } },
    transforms: [{ fieldPath: "count", increment: by }],
  };
}

export function oldWrongly({ old, perUser, stock, closed }: BatchContext, shard: string, pick: number): Write[] {
  const ways: (() => Write[])[] = [
    () => [oldUpdate(old, shard, choose(AMOUNTS, pick))],
    () => [oldUpdate(old, shard, choose([{ doubleValue: 1 }, { doubleValue: 0 }], pick))],
    () => [oldUpdate(old, shard, integer(1), { [choose(["writes", "name"], pick)]: integer(pick) })],
    () => [oldUpdate(old, shard, integer(1), { shard: text(choose(["0", "x"], pick)) })],
    () => [oldUpdate(old, choose([...FOREIGN_SHARD_IDS, "7"], pick))],
    () => [oldUpdate(choose([perUser, stock, closed], pick), choose(SHARD_IDS, pick >> 2))],
    () => [oldUpdate(old, shard), oldUpdate(old, shard)],
    () => [{ path: `${old}/shards/${shard}`, set: { count: integer(pick) } }],
    () => [{ path: `${old}/shards/${choose([shard, "base"], pick)}`, delete: true }],
  ];
  return choose(ways, pick >> 3)();
}
