/** On which shard an increment lands: a random one, because uniform is what spreads best. Randomness is passed in. */

/** A uniform random number in `[0, 1)`, such as `Math.random`. */
export type Random = () => number;

/** The id of a uniformly random shard in `[0, shardCount)`. */
export function randomShard(shardCount: number, random: Random): string {
  return `${Math.floor(random() * shardCount)}`;
}
