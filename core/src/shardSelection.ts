/**
 * The shard of an increment: a random one, but hardly ever one of the first eighth. After the shard count has grown, older writes
 * still wait in line for these, and clients that do not know the new count go on writing to them.
 */

/** A uniform random number in `[0, 1)`, such as `Math.random`. */
export type Random = () => number;

/** What part of another shard's share shard 0 gets where shards are left out. */
const SHARE_OF_SHARD_0 = 1 / 8;

/** How many of the first shards are left out: of 7 shards none. */
function leftOut(shardCount: number): number {
  return Math.floor(shardCount / 8);
}

/**
 * The id of a random shard below `shardCount`, which need not be whole: one of the last seven eighths. Shard 0, which wakes the
 * functions if polls are late or lost, gets an eighth of a share: at a steady rate, a write every ten seconds.
 */
export function randomShard(shardCount: number, random: Random): string {
  const first = leftOut(shardCount);
  const share = random() * (shardCount - first);
  return `${share < SHARE_OF_SHARD_0 ? 0 : first + Math.floor(share)}`;
}

/** The part of all writes that goes to shard 0. */
export function partOfShard0(shardCount: number): number {
  const first = leftOut(shardCount);
  return (first > 0 ? SHARE_OF_SHARD_0 : 1) / (shardCount - first);
}
