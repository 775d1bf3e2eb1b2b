/** Adopted counters: `num_shards`, which old clients need and the functions only read, and `oldWrites`. */
import { finite } from "../../counter/fields.ts";
import type { Feature } from "../../counter/types.ts";
import { adoptedPlan, parseNumShards } from "./adoptedPlan.ts";

export const adopted: Feature = {
  ...adoptedPlan,
  parse: (document) => ({ oldWrites: Math.max(finite(document.get("oldWrites")), 0) }),
  // No old client can write a bounded counter: the rules refuse increments without an entry.
  parseState: (document) => ({
    numShards: document.get("bounded") === true ? undefined : parseNumShards(document.get("num_shards")),
  }),
  measuredWith: ({ numShards }) => numShards,
  // Other counters do not get the field.
  contribute: (_state, { oldWrites }) => ({ fields: oldWrites > 0 ? { oldWrites } : {} }),
};
