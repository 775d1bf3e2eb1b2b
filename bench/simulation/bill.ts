/** What Firestore, functions and tasks would bill, item by item. */
import { PRICES, type Prices } from "../../costs/src/index.ts";

/** What each item is billed as. */
const UNITS = {
  increments: "write",
  "shard count, by clients": "read",
  "looks at marks": "read",
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
export function dollarsPerMillion(bill: Bill): Bill {
  const dollars = emptyBill();
  for (const item of ITEMS)
    dollars[item] = (bill[item] * PRICES.nam5[UNITS[item]] * 1e6) / Math.max(bill.increments, 1);
  return dollars;
}

export function sumOf(bill: Bill): number {
  return ITEMS.reduce((sum, item) => sum + bill[item], 0);
}
