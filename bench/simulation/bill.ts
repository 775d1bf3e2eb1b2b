/** What Firestore, functions and tasks would bill, item by item, at the prices that `npx firestore-tally estimate` uses. */
import { PRICES, type Prices } from "../../costs/src/index.ts";

/** What is billed for each item. */
export const UNITS = {
  increments: "write",
  "shard count, by clients": "read",
  "tidying: reads": "read",
  "tidying: writes": "write",
  "counter document": "read",
  measuring: "read",
  publishing: "write",
  history: "write",
  "folding: deletes": "delete",
  "folding: base": "write",
  sweeps: "read",
  invocations: "invocation",
  tasks: "task",
} as const satisfies Record<string, keyof Prices>;

export type ItemName = keyof typeof UNITS;

export const ITEMS = Object.keys(UNITS) as ItemName[];

/** How many of each item. */
export type Bill = Record<ItemName, number>;

export function emptyBill(): Bill {
  return Object.fromEntries(ITEMS.map((item) => [item, 0])) as Bill;
}

/** Adds `factor` times the other to a bill. */
export function addTo(bill: Bill, other: Bill, factor = 1): Bill {
  for (const item of ITEMS) bill[item] += factor * other[item];
  return bill;
}

export function dollarsOf(item: ItemName, quantity: number, prices: Prices = PRICES.nam5): number {
  return quantity * prices[UNITS[item]];
}

/** Dollars per million increments, item by item. */
export function perMillion(bill: Bill): Bill {
  const result = emptyBill();
  for (const item of ITEMS) result[item] = (dollarsOf(item, bill[item]) * 1e6) / Math.max(bill.increments, 1);
  return result;
}

export function sumOf(bill: Bill): number {
  return ITEMS.reduce((sum, item) => sum + bill[item], 0);
}
