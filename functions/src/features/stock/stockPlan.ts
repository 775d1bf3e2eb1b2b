/**
 * Where the units of a bounded counter should be: spread over shards while there are many, in shard 0 alone for the last ones,
 * so that a take finds them. Every shard that should hold stock has enough for the largest take while so much is left.
 *
 * Units are moved only where takes may fail, or where clients cannot take them: a shard that runs low is filled to the average, and a
 * shard beyond the count, or `base`, is emptied.
 */

import { evenShares, MAX_STOCK_SHARDS, MAX_TAKE, type Stock, stockShards } from "../../../../core/src/index.ts";
import type { ListedShard } from "../../../../firestore/src/index.ts";
import { shardIndex } from "../../counter/shards.ts";
import type { FeaturePlan } from "../../shared/feature.ts";

declare module "../../counter/types.ts" {
  interface FeatureFields {
    /** The shards of a bounded counter that have units, and how many; `null` if the counter is not bounded. */
    readonly stock: Stock | null;
  }
  interface FeatureStates {
    readonly stock: {
      /** Whether no shard may fall below zero. */
      readonly isBounded: boolean;
    };
  }
}

export const stockPlan = {
  name: "stock",
  shardSettings: ({ stock }, { maxShards }) =>
    stock?.isBounded
      ? {
          // A quiet counter has its units in one shard, so that it needs no polls.
          minShards: 1,
          maxShards: Math.min(maxShards, MAX_STOCK_SHARDS),
          // Transfers need to know each shard, also the empty ones that wait to be folded.
          mostListed: 2 * MAX_STOCK_SHARDS,
          // No client can take units from `base`, and the transfer that would move them on may fail.
          foldsOnlyEmpty: true,
        }
      : {},
  needsPublishes: ({ stock }) => stock?.isBounded === true,
  fieldsAfter: ({ stock, measurement: { shards } }) => (stock?.isBounded && shards ? stockIn(shards) : null),
  prepare({ stock, measurement: { shards }, next }) {
    const transfers = stock?.isBounded ? planTransfers(shards ?? [], next.shardCount) : [];
    return transfers.length > 0 ? transfers : undefined;
  },
} satisfies FeaturePlan<"stock", readonly Transfer[]>;

/** Units that leave one shard for others. One commit, which fails if the shard was written since it was listed. */
export interface Transfer {
  readonly from: ListedShard;
  /** Shard id → units. */
  readonly to: Readonly<Record<string, number>>;
}

/** A shard that runs low has less than this share of the average. */
const LOW_SHARE = 0.5;

/** The shards that have units. */
export function stockIn(shards: readonly ListedShard[]): Stock {
  return Object.fromEntries(shards.filter(({ count }) => count > 0).map(({ id, count }) => [id, count]));
}

/**
 * Plans the transfers after which every take of units that exist can succeed.
 *
 * @param shardCount  over how many shards writers should spread
 * @returns           one transfer for each shard that gives; none if nothing has to move
 */
export function planTransfers(shards: readonly ListedShard[], shardCount: number): Transfer[] {
  const units = shards.reduce((sum, { count }) => sum + wholeUnits(count), 0);
  const targetCount = stockShards(units, shardCount);
  const isTarget = ({ id }: ListedShard) => (shardIndex(id) ?? targetCount) < targetCount;
  const held = new Map(shards.map(({ id, count }) => [id, wholeUnits(count)]));
  const shares = evenShares(units, targetCount);
  const targets = shares.map((share, index) => ({
    id: `${index}`,
    missing: share - (held.get(`${index}`) ?? 0),
    share,
  }));
  const enough = Math.max(MAX_TAKE, LOW_SHARE * (units / targetCount));
  const low = targets.filter(({ missing, share }) => share - missing < Math.floor(Math.min(enough, share)));
  const others = targets.filter((one) => one.missing > 0 && !low.includes(one));
  const transfers: Transfer[] = [];
  for (const from of shards.filter((shard) => !isTarget(shard) && wholeUnits(shard.count) > 0)) {
    transfers.push({ from, to: distribute(from.count, [...low, ...others]) });
  }
  const surplusOf = (shard: ListedShard) => wholeUnits(shard.count) - (shares[Number(shard.id)] ?? 0);
  for (const from of shards.filter(isTarget).sort((one, other) => surplusOf(other) - surplusOf(one))) {
    if (surplusOf(from) <= 0 || low.every(({ missing }) => missing === 0)) break;
    transfers.push({ from, to: distribute(surplusOf(from), low) });
  }
  return transfers;
}

/** Distributes units over shards, in their order. @param targets  `missing` is lowered by what each gets */
function distribute(units: number, targets: { readonly id: string; missing: number }[]): Record<string, number> {
  const to: Record<string, number> = {};
  let left = units;
  for (const one of targets) {
    const given = Math.min(left, one.missing);
    if (given > 0) to[one.id] = given;
    one.missing -= given;
    left -= given;
  }
  return to;
}

/** A shard below zero, or with a fraction, was written by a server: its units are not moved. */
function wholeUnits(count: number): number {
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}
