/**
 * What the same traffic costs in a month with other designs: the fixed shards of Firebase's documentation, which each
 * reader sums up (https://firebase.google.com/docs/firestore/solutions/counters), and Redis behind a function.
 *
 * Assumptions favour the others. Fixed shards are filled to the last write and are never summed more often than Tally
 * has a new total. Redis is the smallest instance there is, of the tier that loses its data when it restarts.
 */
import { DEFAULT_SETTINGS, type Settings } from "../../functions/src/decisions.ts";
import { billOf } from "./bill.ts";
import { freeDollars } from "./freeQuota.ts";
import { CALL_SECONDS, INSTANCE_PRICES, instanceDollars, instanceSeconds } from "./instances.ts";
import { LOOKUPS, type MonthlyCosts, monthlyCosts, newTotals } from "./monthlyCosts.ts";
import { type BilledUnit, type PriceList, priceOf } from "./prices.ts";
import { BYTES } from "./storedDocuments.ts";
import { DAYS, MONTH_SECONDS, type Traffic } from "./traffic.ts";
import { billingOf, type Operation } from "./units.ts";

/**
 * US dollars for one, in us-central1. Redis is 1 GiB of Memorystore's Basic Tier of 1 to 4 GiB:
 * https://cloud.google.com/memorystore/docs/redis/pricing, as quoted elsewhere on 2026-09-19. Direct VPC egress, the way to Redis,
 * is free but for its traffic (https://cloud.google.com/run/docs/configuring/vpc-direct-vpc); a connector would cost two virtual
 * machines or more.
 */
export const ALTERNATIVE_PRICES = { redisHour: 0.049, request: 0.4e-6, ...INSTANCE_PRICES } as const;

/** As many as the documentation's example has. */
export const RECIPE_SHARDS = 10;

/** Writes per second that one document takes for an unlimited time. */
export const WRITES_PER_DOCUMENT = 1;

/** The size of a fixed shard, which has a count alone. */
const FIXED_SHARD_BYTES = 100;

export interface DesignCosts {
  readonly name: string;
  /** The free quota is a negative one. */
  readonly items: readonly { readonly name: string; readonly dollars: number }[];
  /** In a month, as it is billed. */
  readonly dollars: number;
  /** Increments per second that one counter takes, for designs with a limit. */
  readonly maxPerSecond?: number;
}

/**
 * Tally, then the alternatives. The last one with fixed shards has as many as the highest peak needs, on every counter:
 * which counter will have the peak is not known in advance.
 *
 * @param workloads  unlike counters, each with their own traffic
 */
export function compareDesigns(
  workloads: readonly Traffic[],
  prices: PriceList,
  config: Settings = DEFAULT_SETTINGS,
): [tally: DesignCosts, recipe: DesignCosts, enough: DesignCosts, redis: DesignCosts] {
  const all = withCosts(workloads, prices, config);
  const needed = Math.max(Math.ceil(highestRate(all.map(({ costs }) => costs)) / WRITES_PER_DOCUMENT), 1);
  return [
    tallyDesign(workloads, prices, config),
    fixedShards(RECIPE_SHARDS, all, prices),
    fixedShards(needed, all, prices),
    redisDesign(all, prices),
  ];
}

/** Increments per second of the busiest counter. */
export function highestRate(all: readonly MonthlyCosts[]): number {
  return Math.max(...all.flatMap(({ dayParts }) => dayParts.map(({ rate }) => rate)));
}

export interface Workload extends Traffic {
  readonly costs: MonthlyCosts;
}

export function withCosts(workloads: readonly Traffic[], prices: PriceList, config: Settings): Workload[] {
  return workloads.map((traffic) => ({ ...traffic, costs: monthlyCosts(traffic, prices, config) }));
}

function design(name: string, dollarsOf: Readonly<Record<string, number>>): DesignCosts {
  const items = Object.entries(dollarsOf).map(([item, dollars]) => ({ name: item, dollars }));
  return { name, items, dollars: items.reduce((sum, { dollars }) => sum + dollars, 0) };
}

export function tallyDesign(workloads: readonly Traffic[], prices: PriceList, config: Settings): DesignCosts {
  const { listPrices, cpuAndMemory, freeQuota } = billOf(monthlyCosts(workloads, prices, config), prices);
  return design("Tally", {
    "Firestore, invocations, tasks": listPrices,
    "CPU and memory": cpuAndMemory,
    "free quota": -freeQuota,
  });
}

export type Step = readonly [item: string, operation: Operation, perMonth: number];

/** A design that runs no function. */
export function clientsAlone(
  name: string,
  steps: readonly Step[],
  prices: PriceList,
  maxPerSecond: number,
): DesignCosts {
  const { units } = billingOf(prices);
  const operations: Partial<Record<BilledUnit, number>> = {};
  const dollarsOf: Record<string, number> = {};
  for (const [item, operation, perMonth] of steps) {
    const unit = units[operation];
    operations[unit] = (operations[unit] ?? 0) + perMonth;
    dollarsOf[item] = (dollarsOf[item] ?? 0) + priceOf({ [unit]: perMonth }, prices);
  }
  const freeQuota = freeDollars({ operations, seconds: 0 }, prices);
  return { ...design(name, { ...dollarsOf, "free quota": -freeQuota }), maxPerSecond };
}

export function fixedShards(shards: number, workloads: readonly Workload[], prices: PriceList): DesignCosts {
  const name = shards === 1 ? "one document" : `${shards.toLocaleString("en-US")} fixed shards`;
  return clientsAlone(name, shardSteps(shards, workloads, prices), prices, shards * WRITES_PER_DOCUMENT);
}

/** An increment with `once` writes an entry of its user, too, and the rules look up both documents, as those of Tally do. */
export function shardSteps(shards: number, workloads: readonly Workload[], prices: PriceList): Step[] {
  const billing = billingOf(prices);
  const summing = billing.list(shards, FIXED_SHARD_BYTES);
  // A watcher either sums the shards now and then or listens to all of them, whichever is cheaper.
  const watching = ({ watchers, costs }: Workload): Step => {
    const [sums, updates] = [watchers * summing * newTotals(costs), watchers * costs.increments];
    const price = (operation: Operation, count: number) => priceOf({ [billing.units[operation]]: count }, prices);
    const isSummed = price("read", sums) < price("update", updates);
    return ["totals, read by watchers", ...(isSummed ? (["read", sums] as const) : (["update", updates] as const))];
  };
  const counted = sum(workloads, ({ costs }) => costs.increments);
  const once = sum(workloads, (one) => one.costs.increments * one.once);
  return [
    ["increments", "write", counted],
    ["entries of increments with once", "write", once * billing.write(BYTES.entry)],
    ["rules' lookups for increments with once", "read", once * LOOKUPS],
    ...workloads.map(watching),
    ["totals, read once", "read", sum(workloads, ({ readsPerDay }) => readsPerDay * DAYS) * summing],
  ];
}

export function redisDesign(workloads: readonly Workload[], prices: PriceList): DesignCosts {
  const calls = sum(
    workloads,
    ({ watchers, readsPerDay, costs }) => costs.increments + readsPerDay * DAYS + watchers * newTotals(costs),
  );
  const seconds = instanceSeconds(calls * CALL_SECONDS, calls);
  return design("Redis", {
    "1 GiB of Redis": (ALTERNATIVE_PRICES.redisHour * MONTH_SECONDS) / 3_600,
    invocations: calls * ALTERNATIVE_PRICES.request,
    "CPU and memory": instanceDollars(seconds),
    "free quota": -freeDollars({ operations: { invocation: calls }, seconds }, prices),
  });
}

function sum(workloads: readonly Workload[], of: (workload: Workload) => number): number {
  return workloads.reduce((all, workload) => all + of(workload), 0);
}
