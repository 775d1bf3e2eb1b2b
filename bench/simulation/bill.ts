/** What Firestore, functions and tasks would bill, item by item. */
import { billingOf, historyBytes, type Operation, PRICES, type PriceList, priceOf } from "../../costs/src/index.ts";

/** What each item is billed as. */
const UNITS = {
  increments: "write",
  /** Write units of increments beyond the first, of shards above 1 KiB; none on Standard. */
  "increments beyond 1 KiB": "write",
  "shard count, by clients": "read",
  /** By clients, after a refused direct increment. */
  "refused, looked up": "read",
  "looks at marks": "read",
  /** None on Standard, where few of the looks find what to remove. */
  "removing marks": "write",
  "counter document": "read",
  measuring: "read",
  publishing: "write",
  history: "write",
  "folding: deletes": "delete",
  "folding: base": "write",
  sweeps: "read",
  invocations: "invocation",
  tasks: "task",
} as const satisfies Record<string, Operation>;

export const ITEMS = Object.keys(UNITS) as (keyof typeof UNITS)[];

/** A number for each item: how many there were, or dollars. */
export type Bill = Record<(typeof ITEMS)[number], number>;

export function emptyBill(): Bill {
  return Object.fromEntries(ITEMS.map((item) => [item, 0])) as Bill;
}

/** Adds `factor` times the other to a bill. */
export function addTo(bill: Bill, other: Bill, factor = 1): Bill {
  for (const item of ITEMS) bill[item] += factor * other[item];
  return bill;
}

/** Dollars per million increments. */
export function dollarsPerMillion(bill: Bill, prices: PriceList = PRICES.nam5): Bill {
  const { units, write } = billingOf(prices);
  const dollars = emptyBill();
  for (const item of ITEMS) {
    // A document of the history is half full on average.
    const each = item === "history" ? write(historyBytes(30)) : 1;
    dollars[item] = (priceOf({ [units[UNITS[item]]]: bill[item] * each }, prices) * 1e6) / Math.max(bill.increments, 1);
  }
  return dollars;
}

export function sumOf(bill: Bill): number {
  return ITEMS.reduce((sum, item) => sum + bill[item], 0);
}
