/**
 * A client that spreads wider than twice the shard count while its writes are slow: `createSpread` with that one number as
 * a parameter. At 2, a test holds it equal to the original.
 */

import { createSpread, type Spread } from "../../client/src/spread.ts";
import { MAX_SHARDS } from "../../core/src/index.ts";
import type { Random } from "../../core/src/shardSelection.ts";

export function spreadWith(widest: number, random: Random): Spread {
  const spread = createSpread(random);
  let shardCount = 1;
  let slow = false;
  return {
    ...spread,
    _learn(now, seen = shardCount) {
      shardCount = Math.max(Number(seen) || 1, 1);
      spread._learn(now, seen);
    },
    _acknowledged(tookMs) {
      slow = spread._acknowledged(tookMs);
      return slow;
    },
    _width: () => Math.min(Math.ceil(slow ? widest * shardCount : shardCount), MAX_SHARDS),
  };
}
