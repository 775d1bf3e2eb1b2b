/** The shard of an increment: a uniformly random one, so that all shards get equal shares of the writes. */

/** A uniform random number in `[0, 1)`, such as `Math.random`. */
export type Random = () => number;

/** The id of a uniformly random shard in `[0, shardCount)`. */
export function randomShard(shardCount: number, random: Random): string {
  return `${Math.floor(random() * shardCount)}`;
}
