/** List prices, in US dollars for one operation. */

export interface Prices {
  readonly read: number;
  readonly write: number;
  readonly delete: number;
  readonly invocation: number;
  /** Two billable operations: creating the task and delivering it. */
  readonly task: number;
}

/**
 * By location of the database: https://firebase.google.com/docs/firestore/pricing, https://cloud.google.com/tasks/pricing,
 * https://firebase.google.com/pricing.
 */
export const PRICES = {
  nam5: { read: 0.6e-6, write: 1.8e-6, delete: 0.2e-6, invocation: 0.4e-6, task: 0.8e-6 },
  regional: { read: 0.3e-6, write: 0.9e-6, delete: 0.1e-6, invocation: 0.4e-6, task: 0.8e-6 },
} as const satisfies Record<string, Prices>;

/** How many operations of each kind. */
export type Operations = Record<keyof Prices, number>;

export const OPERATION_KINDS = Object.keys(PRICES.nam5) as (keyof Prices)[];

/** What some operations cost together. */
export function priceOf(operations: Readonly<Partial<Operations>>, prices: Prices = PRICES.nam5): number {
  return OPERATION_KINDS.reduce((sum, kind) => sum + (operations[kind] ?? 0) * prices[kind], 0);
}
