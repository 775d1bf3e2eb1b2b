/**
 * The shard of an increment: a random one, but hardly ever one of the first eighth. After the shard count has grown, older writes
 * still wait in line for these, and clients that do not know the new count go on writing to them.
 */

/** A uniform random number in `[0, 1)`, such as `Math.random`. */
export type Random = () => number;

/**
 * The id of a random shard below `shardCount`, which need not be whole: one of the last seven eighths. Shard 0, which wakes the
 * functions if polls are late or lost, gets an eighth of a share: at a steady rate, a write every ten seconds.
 */
export function randomShard(shardCount: number, random: Random): string {
  const leftOut = Math.floor(shardCount / 8);
  const share = random() * (shardCount - leftOut);
  return `${share < 1 / 8 ? 0 : leftOut + Math.floor(share)}`;
}

/** The part of all writes that goes to shard 0: one of `shardCount` shares, or an eighth of one if shards are left out. */
export function partOfShard0(shardCount: number): number {
  const leftOut = Math.floor(shardCount / 8);
  return (leftOut > 0 ? 1 / 8 : 1) / (shardCount - leftOut);
}
