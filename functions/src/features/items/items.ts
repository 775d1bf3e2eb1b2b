/** Items: which things events were about most often. New counts wait in documents until they are merged. */
import { defineFeature } from "../../shared/feature.ts";
import { createPendingHandler, mergeLost, runMergeTask } from "../../shared/merge.ts";
import { itemsPlan } from "./itemsPlan.ts";
import { itemMerging } from "./mergeItems.ts";

export const items = defineFeature({
  ...itemsPlan,
  onDocument: { mergeitems: (backend) => createPendingHandler(backend, itemMerging) },
  onTask: { mergeItems: (backend, task) => runMergeTask(backend, itemMerging, task) },
  async sweep(backend) {
    if (backend.config.items) await mergeLost(backend, itemMerging);
  },
});
