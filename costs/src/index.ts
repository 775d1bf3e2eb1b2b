/** Prices, and what traffic costs in a month: with Tally and with other designs. Used by cli, web and bench. */
export {
  ALTERNATIVE_PRICES,
  compareDesigns,
  type DesignCosts,
  highestRate,
} from "./alternatives.ts";
export { type CostItem, type MonthlyCosts, monthlyCosts } from "./monthlyCosts.ts";
export { OPERATION_KINDS, type Operations, PRICES, type Prices, priceOf } from "./prices.ts";
export { measuringReads } from "./publishing.ts";
export { HOSTING_GIGABYTE, listenersPerDay, totalsPerDay } from "./reading.ts";
export type { Traffic } from "./traffic.ts";
