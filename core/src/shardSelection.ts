/**
 * On which shard an increment lands. Uniform by default; by key when one writer should stay on one shard. Pure:
 * randomness is passed in.
 */

/** A uniform random number in `[0, 1)`, such as `Math.random`. */
export type Random = () => number;

/** A uniformly random shard in `[0, spread)`. */
export function randomShard(spread: number, random: Random): number {
  return Math.floor(random() * spread);
}

/**
 * The shard a key belongs to, in `[0, spread)`. The same key always lands on the same shard; when `spread` grows from
 * `a` to `b`, only the share `(b - a) / b` of keys moves, and only to new shards.
 *
 * Jump consistent hash (Lamping and Veach 2014, https://arxiv.org/abs/1406.2294), seeded with FNV-1a of the key.
 */
export function shardForKey(key: string, spread: number): number {
  let state = fnv1a64(key);
  let shard = -1n;
  let next = 0n;
  while (next < BigInt(spread)) {
    shard = next;
    state = BigInt.asUintN(64, state * 2862933555777941757n + 1n);
    next = BigInt(Math.floor((Number(shard) + 1) * (2 ** 31 / (Number(state >> 33n) + 1))));
  }
  return Number(shard);
}

/** FNV-1a over the key's UTF-8 bytes (http://www.isthe.com/chongo/tech/comp/fnv/). */
function fnv1a64(key: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(key)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash;
}
