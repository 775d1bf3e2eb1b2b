/**
 * The shard of an increment: a random one, but none of the first eighth. After the shard count has grown, older writes still wait in
 * line for the first shards, and clients that do not know the new count go on writing to them.
 */

/** A uniform random number in `[0, 1)`, such as `Math.random`. */
export type Random = () => number;

/** The id of a uniformly random shard from an eighth of `shardCount`, rounded down, to below `shardCount`. */
export function randomShard(shardCount: number, random: Random): string {
  const first = Math.floor(shardCount / 8);
  return `${first + Math.floor(random() * (shardCount - first))}`;
}
