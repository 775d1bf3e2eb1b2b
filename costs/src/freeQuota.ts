/**
 * What Google does not bill, in dollars at list prices.
 *
 * Firestore's free quota is for each day and for one database of a project: https://firebase.google.com/docs/firestore/pricing,
 * https://firebase.google.com/docs/firestore/pipelines/pricing. That of functions and tasks is for each month and billing account:
 * https://firebase.google.com/pricing, https://cloud.google.com/tasks/pricing. Every day has the same traffic here.
 */
import { freeInstanceDollars } from "./instances.ts";
import { type BilledUnit, type PriceList, priceOf } from "./prices.ts";
import { DAYS } from "./traffic.ts";

export type Amounts = Readonly<Partial<Record<BilledUnit, number>>>;

/** In a day. */
const DATABASE: Amounts = {
  ...{ read: 50_000, write: 20_000, delete: 20_000 },
  ...{ readUnit: 50_000, writeUnit: 40_000, realtimeUnit: 50_000 },
};

/** In a month. A task is two of the million billable operations. */
const FUNCTIONS: Amounts = { invocation: 2_000_000, task: 500_000 };

/** In a month. */
export interface Usage {
  /** Without deletes by a TTL policy, which have no free quota. */
  readonly operations: Amounts;
  /** Of the instances of functions. */
  readonly seconds: number;
  /** Databases that share the operations evenly, of which one has the free quota. Default 1. */
  readonly databases?: number | undefined;
}

export function freeDollars({ operations, seconds, databases = 1 }: Usage, prices: PriceList): number {
  const free = Object.entries(operations).map(([name, amount]) => {
    const unit = name as BilledUnit;
    const daily = DATABASE[unit];
    return [unit, daily ? Math.min(amount / databases, daily * DAYS) : Math.min(amount, FUNCTIONS[unit] ?? 0)];
  });
  return priceOf(Object.fromEntries(free), prices) + freeInstanceDollars(seconds);
}
