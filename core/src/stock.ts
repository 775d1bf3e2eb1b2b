/**
 * Bounded counters: stock that never oversells. The units are spread over the shards, and the rules keep each shard at 0 or
 * more, so a take needs no other shard and no lock. The functions move units to where takes find them.
 */
import { CounterError } from "./errors.ts";

/**
 * The most units of one take by a client. The functions keep at least this many in each shard that holds stock, so that a take
 * of any size finds a shard.
 */
export const MAX_TAKE = 10;

/** The most shards that hold stock. Each measurement of a bounded counter reads them one by one. */
export const MAX_STOCK_SHARDS = 100;

/** Over how many shards `units` are spread, if writers need `shardCount`. Each gets two takes at least. */
export function stockShards(units: number, shardCount: number): number {
  return Math.max(Math.min(shardCount, Math.floor(units / (2 * MAX_TAKE)), MAX_STOCK_SHARDS), 1);
}

/** Splits `units` evenly over `shards` shards; the first ones get one more. */
export function evenShares(units: number, shards: number): number[] {
  return Array.from({ length: shards }, (_, index) => Math.floor((units + shards - 1 - index) / shards));
}

/**
 * @param most  the most units of one take
 * @throws CounterError `counter/invalid-amount`
 */
export function validTake(units: unknown, most: number): void {
  if (!(Number.isInteger(units) && (units as number) > 0 && (units as number) <= most)) {
    throw new CounterError(
      "counter/invalid-amount",
      `units is "${String(units)}"; pass a whole number from 1 to ${most}`,
    );
  }
}

/** @returns the error of a take that finds too few units */
export function soldOut(id: string, n: number, left: number): CounterError {
  return new CounterError("counter/sold-out", `"${id}" has ${left} left, not ${n}`);
}
