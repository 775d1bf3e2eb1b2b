/** On which shard an increment lands: a random one, because uniform is what spreads best. Randomness is passed in. */

/** A uniform random number in `[0, 1)`, such as `Math.random`. */
export type Random = () => number;

/** The id of a uniformly random shard in `[0, spread)`. */
export function randomShard(spread: number, random: Random): string {
  return `${Math.floor(random() * spread)}`;
}

/**
 * Whether a counter has grown a moment ago: most of the shards that it should have are not there yet. What its old ones could
 * take says little of what is asked of it, so more growth may follow: the backend looks again soon, and so do clients.
 */
export function hasJustGrown(shardCount: number, shardDocuments: number): boolean {
  return shardDocuments * 2 < shardCount;
}
