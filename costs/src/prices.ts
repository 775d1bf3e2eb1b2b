/** List prices, in US dollars for one operation or one unit. */
import type { Edition } from "../../functions/src/decisions.ts";

/** Of the Standard edition, which bills documents. */
export interface Prices {
  readonly read: number;
  readonly write: number;
  readonly delete: number;
  readonly invocation: number;
  /** Two billable operations: creating the task and delivering it. */
  readonly task: number;
}

/** Of the Enterprise edition, which bills bytes (units.ts). */
export interface EnterprisePrices {
  readonly readUnit: number;
  readonly writeUnit: number;
  readonly realtimeUnit: number;
  readonly invocation: number;
  readonly task: number;
}

export type PriceList = Prices | EnterprisePrices;
export type BilledUnit = keyof Prices | keyof EnterprisePrices;

const FUNCTIONS = { invocation: 0.4e-6, task: 0.8e-6 } as const;

/**
 * By location of the database: https://firebase.google.com/docs/firestore/pricing, https://cloud.google.com/tasks/pricing,
 * https://firebase.google.com/pricing.
 */
export const PRICES = {
  nam5: { read: 0.6e-6, write: 1.8e-6, delete: 0.2e-6, ...FUNCTIONS },
  regional: { read: 0.3e-6, write: 0.9e-6, delete: 0.1e-6, ...FUNCTIONS },
} as const satisfies Record<string, Prices>;

export type PricedLocation = keyof typeof PRICES;

/** Real-time units of the Enterprise edition, by location: https://cloud.google.com/firestore/enterprise/pricing. */
export const REALTIME_PRICES = {
  "us-central1": 0.3e-6,
  nam5: 0.6e-6,
  "europe-west4": 0.315e-6,
  "asia-east1": 0.347e-6,
  "asia-south1": 0.312e-6,
  "southamerica-east1": 0.476e-6,
} as const;

/**
 * `regional` is `us-central1` here: https://firebase.google.com/docs/firestore/pipelines/pricing. Of other locations, the prices of read
 * and write units are not known.
 */
export const ENTERPRISE_PRICES: { readonly regional: EnterprisePrices; readonly nam5?: undefined } = {
  regional: {
    readUnit: 0.05e-6,
    writeUnit: 0.26e-6,
    realtimeUnit: REALTIME_PRICES["us-central1"],
    ...FUNCTIONS,
  },
};

/** The prices of a location on an edition; `undefined` if they are not known. */
export function pricesOf(edition: "standard", location: PricedLocation): Prices;
export function pricesOf(edition: Edition, location: PricedLocation): PriceList | undefined;
export function pricesOf(edition: Edition, location: PricedLocation): PriceList | undefined {
  return edition === "enterprise" ? ENTERPRISE_PRICES[location] : PRICES[location];
}

export function isEnterprise(prices: PriceList): prices is EnterprisePrices {
  return "writeUnit" in prices;
}

/** How many operations of each kind. */
export type Operations = Record<keyof Prices, number>;

export const OPERATION_KINDS = Object.keys(PRICES.nam5) as (keyof Prices)[];

/** What some operations, or some units, cost together. */
export function priceOf(
  amounts: Readonly<Partial<Record<BilledUnit, number>>>,
  prices: PriceList = PRICES.nam5,
): number {
  return Object.entries(prices).reduce((sum, [unit, price]) => sum + (amounts[unit as BilledUnit] ?? 0) * price, 0);
}
