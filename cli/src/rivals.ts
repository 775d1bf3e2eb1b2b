/**
 * What the same traffic costs in a month without Tally: with the recipe of Firebase's documentation, a fixed number of
 * shards that whoever reads sums up (https://firebase.google.com/docs/firestore/solutions/counters), and with Redis behind a
 * function. Where something must be assumed, it is in their favour: fixed shards are filled to the last write and never
 * summed more often than Tally publishes, and Redis is the smallest there is, of the tier that forgets when it restarts.
 *
 * The CPU and memory of functions, which an estimate leaves out, are most of what Redis needs, so here they count: Tally's
 * by the same rule.
 */
import { type Costs, costsOf, DEFAULTS, type Prices, type Traffic } from "../../costs/src/costs.ts";

/**
 * US dollars for one, in us-central1. Redis is Memorystore's Basic Tier of 1 to 4 GiB, of which it is 1 GiB:
 * https://cloud.google.com/memorystore/docs/redis/pricing, as others quoted it on 2026-09-19. Functions of the 2nd generation
 * are billed as Cloud Run, whose prices are from copies without a date:
 * https://cloud.google.com/run/pricing. The way to Redis, Direct VPC egress, is free but for the traffic
 * (https://cloud.google.com/run/docs/configuring/vpc-direct-vpc); a connector would cost two virtual machines or more.
 */
export const RIVAL_PRICES = { redisHour: 0.049, request: 0.4e-6, cpuSecond: 24e-6, gibSecond: 2.5e-6 } as const;

/** As many as the documentation's example has. */
export const RECIPE_SHARDS = 10;

/** Writes per second that one document takes for as long as one likes. */
const WRITES_PER_DOCUMENT = 1;

/** What each call keeps an instance for, at least: it is billed in steps of that. */
const CALL_SECONDS = 0.1;

/** And for each document that it reads. */
const READ_SECONDS = 0.001;

/** Calls per second that an instance of one CPU serves. */
const CALLS_PER_INSTANCE = 500;

/** What an instance has. */
const INSTANCE = { cpus: 1, gib: 0.5 } as const;

const MONTH_SECONDS = 30 * 86_400;

export interface Contender {
  readonly name: string;
  readonly items: readonly { readonly name: string; readonly dollars: number }[];
  /** In a month. */
  readonly dollars: number;
  /** Increments per second that one counter takes, if there is a limit that this traffic may come to. */
  readonly most?: number;
}

/**
 * Tally, and then the others. The last of those with fixed shards has just as many as the highest peak needs, on every
 * counter: which of them will have it nobody knows beforehand.
 *
 * @param kinds  unlike counters, each with their own traffic
 */
export function compare(kinds: readonly Traffic[], prices: Prices, config = DEFAULTS): Contender[] {
  const all = kinds.map((traffic) => ({ ...traffic, costs: costsOf(traffic, prices, config) }));
  const needed = Math.max(Math.ceil(peakOf(all.map(({ costs }) => costs)) / WRITES_PER_DOCUMENT), 1);
  return [tally(all), fixedShards(RECIPE_SHARDS, all, prices), fixedShards(needed, all, prices), redis(all)];
}

/** Increments per second of the busiest counter. */
export function peakOf(all: readonly Costs[]): number {
  return Math.max(...all.flatMap(({ phases }) => phases.map(({ rate }) => rate)));
}

interface Kind extends Traffic {
  readonly costs: Costs;
}

function contender(name: string, dollarsOf: Readonly<Record<string, number>>): Contender {
  const items = Object.entries(dollarsOf).map(([item, dollars]) => ({ name: item, dollars }));
  return { name, items, dollars: items.reduce((sum, { dollars }) => sum + dollars, 0) };
}

function tally(kinds: readonly Kind[]): Contender {
  const tasks = sum(kinds, ({ costs }) => numberOf(costs, "tasks"));
  const wakes = sum(kinds, ({ costs }) => numberOf(costs, "function invocations")) - tasks;
  const reads = sum(kinds, ({ costs }) => numberOf(costs, "measuring, counter document"));
  return contender("Tally", {
    "Firestore, invocations, tasks": sum(kinds, ({ costs }) => costs.dollars),
    // Those who wake mostly look into their memory; those who aggregate read what they measure.
    "CPU and memory": cpu(wakes * CALL_SECONDS, wakes) + cpu(tasks * CALL_SECONDS + reads * READ_SECONDS, tasks),
  });
}

function fixedShards(shards: number, kinds: readonly Kind[], prices: Prices): Contender {
  // Who watches either sums up now and then or listens to every shard, whichever is cheaper.
  const watching = ({ watchers, costs }: Kind) => watchers * Math.min(shards * publishesOf(costs), costs.increments);
  const spent = {
    increments: sum(kinds, ({ costs }) => costs.increments) * prices.write,
    "totals, by who watches": sum(kinds, watching) * prices.read,
    "totals, by who reads": sum(kinds, ({ readsPerDay }) => readsPerDay * 30) * shards * prices.read,
  };
  const name = shards === 1 ? "one document" : `${shards.toLocaleString("en-US")} fixed shards`;
  return { ...contender(name, spent), most: shards * WRITES_PER_DOCUMENT };
}

function redis(kinds: readonly Kind[]): Contender {
  const calls = sum(
    kinds,
    ({ watchers, readsPerDay, costs }) => costs.increments + readsPerDay * 30 + watchers * publishesOf(costs),
  );
  return contender("Redis", {
    "1 GiB of Redis": (RIVAL_PRICES.redisHour * MONTH_SECONDS) / 3_600,
    invocations: calls * RIVAL_PRICES.request,
    "CPU and memory": cpu(calls * CALL_SECONDS, calls),
  });
}

/**
 * Dollars for instances that serve many calls at a time: at least one while there is a call, and more when there are many.
 *
 * @param seconds  what all calls of a month take together, one after the other
 * @param calls    how many those are
 */
function cpu(seconds: number, calls: number): number {
  const busy = 1 - Math.exp(-seconds / MONTH_SECONDS);
  const instances = Math.max(busy, calls / MONTH_SECONDS / CALLS_PER_INSTANCE);
  const { cpuSecond, gibSecond } = RIVAL_PRICES;
  return instances * MONTH_SECONDS * (INSTANCE.cpus * cpuSecond + INSTANCE.gib * gibSecond);
}

function publishesOf(costs: Costs): number {
  return numberOf(costs, "publishing the totals");
}

function numberOf({ items }: Costs, name: string): number {
  return items.find((item) => item.name === name)?.perMonth ?? 0;
}

function sum(kinds: readonly Kind[], of: (kind: Kind) => number): number {
  return kinds.reduce((all, kind) => all + of(kind), 0);
}
