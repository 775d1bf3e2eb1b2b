/** Mistakes with counters that were made by hand, and that old apps write. */

import type { PublishDecisions, PublishHooks } from "../../../functions/src/counter/types.ts";
import type { Mutation } from "./mutation.ts";

/** The feature of adopted counters, changed. */
function having(change: (plan: PublishDecisions) => Partial<PublishDecisions>): Pick<Mutation, "backend"> {
  const changed = <One extends PublishDecisions>(one: One): One =>
    one.name === "adopted" ? { ...one, ...change(one) } : one;
  return {
    backend: (backend) => ({
      ...backend,
      features: backend.features.map((feature) => changed<PublishHooks>(feature)),
      config: { ...backend.config, plans: backend.config.plans.map((plan) => changed<PublishDecisions>(plan)) },
    }),
  };
}

export const adoptedMutations: Record<string, Mutation> = {
  "a fold takes the shards of old apps": {
    ...having(({ shardSettings }) => ({
      shardSettings: (...args) => {
        const { keptShards: _, triggerShards: __, minShards: ___, ...others } = shardSettings?.(...args) ?? {};
        return others;
      },
    })),
    breaks: ["I5"],
    world: "adopted",
    seed: 5,
  },
  "an old update triggers nothing": {
    event: async (event, handle, { name, change: { before, after } }) => {
      const isOld = before.fields?.writes === after.fields?.writes;
      if (name !== "shardupdated" || !isOld) await handle(event);
    },
    breaks: ["I2"],
    world: "adopted",
    seed: 12,
  },
  "a new app's update of an idle counter's shard triggers nothing": {
    event: async (event, handle, { name, change: { before, after } }) => {
      const isNewApp = before.fields?.writes !== after.fields?.writes;
      if (name !== "shardupdated" || !isNewApp) await handle(event);
    },
    breaks: ["I2"],
    world: "adopted",
    seed: 18,
  },
  "what a counter had before is today's": {
    ...having(() => ({ correctSum: () => ({}) })),
    breaks: ["I11"],
    world: "adopted",
  },
};
