/**
 * What the same traffic costs in a month with other designs: the fixed shards of Firebase's documentation, which each
 * reader sums up (https://firebase.google.com/docs/firestore/solutions/counters), and Redis behind a function.
 *
 * Assumptions favour the others. Fixed shards are filled to the last write and are never summed more often than Tally
 * has a new total. Redis is the smallest instance there is, of the tier that loses its data when it restarts. An estimate
 * leaves out the CPU and memory of functions, but they are most of what Redis costs, so here they count, Tally's too.
 */
import { DEFAULT_SETTINGS, type Settings } from "../../functions/src/decisions.ts";
import { amountOf, type MonthlyCosts, monthlyCosts, newTotals } from "./monthlyCosts.ts";
import { type PriceList, priceOf } from "./prices.ts";
import { DAYS, MONTH_SECONDS, type Traffic } from "./traffic.ts";
import { billingOf } from "./units.ts";

/**
 * US dollars for one, in us-central1. Redis is 1 GiB of Memorystore's Basic Tier of 1 to 4 GiB:
 * https://cloud.google.com/memorystore/docs/redis/pricing, as quoted elsewhere on 2026-09-19. Functions of the 2nd
 * generation are billed as Cloud Run, whose prices are from undated copies of https://cloud.google.com/run/pricing.
 * Direct VPC egress, the way to Redis, is free but for its traffic
 * (https://cloud.google.com/run/docs/configuring/vpc-direct-vpc); a connector would cost two virtual machines or more.
 */
export const ALTERNATIVE_PRICES = { redisHour: 0.049, request: 0.4e-6, cpuSecond: 24e-6, gibSecond: 2.5e-6 } as const;

/** As many as the documentation's example has. */
const RECIPE_SHARDS = 10;

/** Writes per second that one document takes for an unlimited time. */
const WRITES_PER_DOCUMENT = 1;

/** The shortest time for which a call is billed. */
const CALL_SECONDS = 0.1;

/** What each document that a call reads adds. */
const READ_SECONDS = 0.001;

/** Calls per second that an instance of one CPU serves. */
export const CALLS_PER_INSTANCE = 500;

/** The size of a fixed shard, which has a count alone. */
const FIXED_SHARD_BYTES = 100;

const INSTANCE = { cpus: 1, gib: 0.5 } as const;

export interface DesignCosts {
  readonly name: string;
  readonly items: readonly { readonly name: string; readonly dollars: number }[];
  /** In a month. */
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
  const all = workloads.map((traffic) => ({ ...traffic, costs: monthlyCosts(traffic, prices, config) }));
  const needed = Math.max(Math.ceil(highestRate(all.map(({ costs }) => costs)) / WRITES_PER_DOCUMENT), 1);
  return [tally(all), fixedShards(RECIPE_SHARDS, all, prices), fixedShards(needed, all, prices), redis(all)];
}

/** Increments per second of the busiest counter. */
export function highestRate(all: readonly MonthlyCosts[]): number {
  return Math.max(...all.flatMap(({ dayParts }) => dayParts.map(({ rate }) => rate)));
}

interface Workload extends Traffic {
  readonly costs: MonthlyCosts;
}

function design(name: string, dollarsOf: Readonly<Record<string, number>>): DesignCosts {
  const items = Object.entries(dollarsOf).map(([item, dollars]) => ({ name: item, dollars }));
  return { name, items, dollars: items.reduce((sum, { dollars }) => sum + dollars, 0) };
}

function tally(workloads: readonly Workload[]): DesignCosts {
  const tasks = sum(workloads, ({ costs }) => amountOf(costs, "tasks"));
  const wakes = sum(workloads, ({ costs }) => amountOf(costs, "invocations")) - tasks;
  const reads = sum(workloads, ({ costs }) => amountOf(costs, "measurements"));
  return design("Tally", {
    "Firestore, invocations, tasks": sum(workloads, ({ costs }) => costs.dollars),
    // Most wakes only look into memory; a task reads the documents that it measures.
    "CPU and memory":
      cpuDollars(wakes * CALL_SECONDS, wakes) + cpuDollars(tasks * CALL_SECONDS + reads * READ_SECONDS, tasks),
  });
}

function fixedShards(shards: number, workloads: readonly Workload[], prices: PriceList): DesignCosts {
  const { units, list } = billingOf(prices);
  const dollarsOf = (operation: keyof typeof units, count: number) => priceOf({ [units[operation]]: count }, prices);
  const summing = dollarsOf("read", list(shards, FIXED_SHARD_BYTES));
  // A watcher either sums the shards now and then or listens to all of them, whichever is cheaper.
  const watching = ({ watchers, costs }: Workload) =>
    watchers * Math.min(summing * newTotals(costs), dollarsOf("update", costs.increments));
  const name = shards === 1 ? "one document" : `${shards.toLocaleString("en-US")} fixed shards`;
  const costs = design(name, {
    increments: dollarsOf(
      "write",
      sum(workloads, ({ costs }) => costs.increments),
    ),
    "totals, read by watchers": sum(workloads, watching),
    "totals, read once": sum(workloads, ({ readsPerDay }) => readsPerDay * DAYS) * summing,
  });
  return { ...costs, maxPerSecond: shards * WRITES_PER_DOCUMENT };
}

function redis(workloads: readonly Workload[]): DesignCosts {
  const calls = sum(
    workloads,
    ({ watchers, readsPerDay, costs }) => costs.increments + readsPerDay * DAYS + watchers * newTotals(costs),
  );
  return design("Redis", {
    "1 GiB of Redis": (ALTERNATIVE_PRICES.redisHour * MONTH_SECONDS) / 3_600,
    invocations: calls * ALTERNATIVE_PRICES.request,
    "CPU and memory": cpuDollars(calls * CALL_SECONDS, calls),
  });
}

/**
 * Dollars for instances that serve many calls at a time: at least one while there is a call, more when there are many.
 *
 * @param seconds  duration of all calls of a month, one after the other
 * @param calls    number of calls in a month
 */
function cpuDollars(seconds: number, calls: number): number {
  const busy = 1 - Math.exp(-seconds / MONTH_SECONDS);
  const instances = Math.max(busy, calls / MONTH_SECONDS / CALLS_PER_INSTANCE);
  return instanceDollars(instances * MONTH_SECONDS);
}

/** Dollars for an instance that runs for some seconds, or for some instances that run for one. */
export function instanceDollars(seconds: number): number {
  const { cpuSecond, gibSecond } = ALTERNATIVE_PRICES;
  return seconds * (INSTANCE.cpus * cpuSecond + INSTANCE.gib * gibSecond);
}

function sum(workloads: readonly Workload[], of: (workload: Workload) => number): number {
  return workloads.reduce((all, workload) => all + of(workload), 0);
}
