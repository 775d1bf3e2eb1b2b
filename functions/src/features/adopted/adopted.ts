/** Adopted counters: `num_shards`, which old clients need and the functions only read, and `oldWrites`. */
import { parseNumShards } from "../../../../core/src/index.ts";
import { finite } from "../../counter/fields.ts";
import { TRIGGER_SHARDS } from "../../counter/shards.ts";
import { createShardHandler } from "../../counter/wake.ts";
import { defineFeature } from "../../shared/feature.ts";
import { adoptedPlan } from "./adoptedPlan.ts";

export const adopted = defineFeature({
  ...adoptedPlan,
  onDocument: {
    /** Updates of the shards that are silent without it. */
    shardupdated(backend) {
      const handle = createShardHandler(backend);
      return async (event) => {
        if (!TRIGGER_SHARDS.includes(event.after?.id ?? "")) await handle(event);
      };
    },
  },
  parse: (document) => ({ oldWrites: Math.max(finite(document.get("oldWrites")), 0) }),
  // No old client can write a bounded counter: the rules refuse increments without an entry.
  parseState: (document) => ({
    numShards: document.get("bounded") === true ? undefined : parseNumShards(document.get("num_shards")),
  }),
  measurementDependsOn: ({ adopted }) => adopted?.numShards,
  // Other counters do not get the field.
  contribute: (_state, { adopted: { oldWrites } = { oldWrites: 0 } }) => ({
    fields: oldWrites > 0 ? { oldWrites } : {},
  }),
});
