/** Prices, and what traffic costs in a month: with Tally and with other designs. Used by cli, web and bench. */
export {
  ALTERNATIVE_PRICES,
  compareDesigns,
  type DesignCosts,
  highestRate,
} from "./alternatives.ts";
export { type Bill, billOf } from "./bill.ts";
export { documentBytes, type StoredFields, valueBytes } from "./documentSize.ts";
export { type CostItem, LOOKUPS, type MonthlyCosts, monthlyCosts, perMillion } from "./monthlyCosts.ts";
export {
  type BilledUnit,
  ENTERPRISE_PRICES,
  OPERATION_KINDS,
  type Operations,
  PRICES,
  type PricedLocation,
  type PriceList,
  type Prices,
  priceOf,
  pricesOf,
  REALTIME_PRICES,
} from "./prices.ts";
export { HOSTING_GIGABYTE, listenersPerDay, totalsPerDay } from "./reading.ts";
export { compareSite, OPEN_SECONDS, type Site, siteTraffic, zipfTraffic } from "./site.ts";
export { BYTES, bucketBytes, counterBytes, historyBytes, MARKED_SHARDS, markedShard } from "./storedDocuments.ts";
export type { Traffic } from "./traffic.ts";
export { type Billing, billingOf, measuringReads, type Operation, readUnits, writeUnits } from "./units.ts";
