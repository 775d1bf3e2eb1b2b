/** Stock: units of a bounded counter, which move between its shards before a publish where takes may fail. */
import type { Feature } from "../../counter/types.ts";
import { stockPlan, type Transfer } from "./stockPlan.ts";
import { transferStock } from "./transferStock.ts";

export const stock: Feature<readonly Transfer[]> = {
  ...stockPlan,
  // Decisions do not depend on the stored field.
  parse: () => ({ stock: null }),
  parseState: (document) => ({ bounded: document.get("bounded") === true }),
  measuredWith: ({ bounded }) => bounded,
  carryOut: transferStock,
  contribute: (_state, next) => ({ fields: { stock: next.stock } }),
};
