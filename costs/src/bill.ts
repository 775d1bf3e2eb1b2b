/** What a month of Tally is billed in the end: list prices, and the CPU and memory of its functions, less the free quota. */
import { type Amounts, freeDollars } from "./freeQuota.ts";
import { CALL_SECONDS, instanceDollars, instanceSeconds, READ_SECONDS } from "./instances.ts";
import { amountOf, type CostItemId, type MonthlyCosts } from "./monthlyCosts.ts";
import type { BilledUnit, PriceList } from "./prices.ts";

/** US dollars of a month. */
export interface Bill {
  readonly listPrices: number;
  readonly cpuAndMemory: number;
  readonly freeQuota: number;
  readonly dollars: number;
}

/** Deleted by TTL policies, without a free quota. */
const EXPIRED: readonly CostItemId[] = ["expiredReceipts", "expiredHistory"];

/** @param databases  that share the traffic, of which one has the free quota */
export function billOf(costs: MonthlyCosts, prices: PriceList, databases = 1): Bill {
  const seconds = functionSeconds(costs);
  const [listPrices, cpuAndMemory] = [costs.dollars, instanceDollars(seconds)];
  const freeQuota = freeDollars({ operations: quotedOperations(costs), seconds, databases }, prices);
  return { listPrices, cpuAndMemory, freeQuota, dollars: listPrices + cpuAndMemory - freeQuota };
}

/** Most wakes only look into memory. A task reads the documents that it measures. */
function functionSeconds(costs: MonthlyCosts): number {
  const tasks = amountOf(costs, "tasks");
  const wakes = amountOf(costs, "invocations") - tasks;
  const reading = amountOf(costs, "measurements") * READ_SECONDS;
  return instanceSeconds(wakes * CALL_SECONDS, wakes) + instanceSeconds(tasks * CALL_SECONDS + reading, tasks);
}

function quotedOperations({ items }: MonthlyCosts): Amounts {
  const operations: Partial<Record<BilledUnit, number>> = {};
  for (const { id, unit, perMonth } of items) {
    if (!EXPIRED.includes(id)) operations[unit] = (operations[unit] ?? 0) + perMonth;
  }
  return operations;
}
