/** Stock: units of a bounded counter, which move between its shards before a publish where takes may fail. */
import type { Feature } from "../../counter/types.ts";
import { stockPlanning, type Transfer } from "./stockPlan.ts";
import { transferStock } from "./transferStock.ts";

export const stock: Feature<readonly Transfer[]> = {
  ...stockPlanning,
  // Decisions do not depend on the stored field.
  parse: () => ({ stock: null }),
  carryOut: transferStock,
  contribute: (_state, next) => ({ fields: { stock: next.stock } }),
};
