/** The counter itself, as the first of the features. */
import { runAggregationTask } from "../counter/aggregate.ts";
import { repairLostPolls } from "../counter/sweep.ts";
import { createShardHandler } from "../counter/wake.ts";
import { defineFeature } from "../shared/feature.ts";
import { counterPlan } from "./counterPlan.ts";

export const counter = defineFeature({
  ...counterPlan,
  onDocument: {
    shardcreated: createShardHandler,
    shardzeroupdated: createShardHandler,
    baseupdated: createShardHandler,
  },
  onTask: { poll: runAggregationTask, followUp: runAggregationTask },
  sweep: repairLostPolls,
});
