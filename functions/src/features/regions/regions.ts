/** Several regions: a publish schedules the exchange that pushes it to the others, and has the sum of what is known of all. */
import { defineFeature } from "../../shared/feature.ts";
import { connectOtherRegions } from "./connect.ts";
import { runExchange } from "./exchange.ts";
import { exchangeLost } from "./exchangeLost.ts";
import { regionHooks } from "./regionHooks.ts";

export const regions = defineFeature({
  ...regionHooks,
  connect: (app, { regions, collection }) => (regions ? connectOtherRegions(app, regions, collection) : undefined),
  onTask: { exchange: runExchange, exchangeVisitors: runExchange },
  sweep: exchangeLost,
});
