/** Stock: units of a bounded counter, which move between its shards before a publish where takes may fail. */
import { defineFeature } from "../../shared/feature.ts";
import { stockPlan } from "./stockPlan.ts";
import { transferStock } from "./transferStock.ts";

export const stock = defineFeature({
  ...stockPlan,
  // Decisions do not depend on the stored field.
  parse: () => null,
  parseState: (document) => ({ isBounded: document.get("bounded") === true }),
  measurementDependsOn: ({ stock }) => stock?.isBounded,
  carryOut: transferStock,
  contribute: (_state, { stock = null }) => ({ fields: { stock } }),
});
