/** Visitors: how many different people a counter has counted. New ones wait in buckets until they are merged. */
import { defineFeature } from "../../shared/feature.ts";
import { createPendingHandler, mergeLost, runMergeTask } from "../../shared/merge.ts";
import { deleteVisitors, visitorMerging } from "./mergeVisitors.ts";
import { visitorsPlan } from "./visitorsPlan.ts";

const MINUTE = 60_000;

export const visitors = defineFeature({
  ...visitorsPlan,
  onDocument: { mergevisitors: (backend) => createPendingHandler(backend, visitorMerging) },
  onTask: { mergeVisitors: (backend, task) => runMergeTask(backend, visitorMerging, task) },
  async sweep(backend) {
    if (backend.config.visitors !== "no") await mergeLost(backend, visitorMerging);
    // Most deployments count no visitors, and have no hashes of any: one sweep an hour looks.
    else if (backend.now() % (60 * MINUTE) < 5 * MINUTE) await deleteVisitors(backend);
  },
});
