/** What items need of a deployment. They do not join publishes. */
import type { FeaturePlan } from "../../shared/feature.ts";
import { mergeQueue } from "../../shared/mergeQueue.ts";
import { YES_OR_NO } from "../../shared/parameters.ts";

declare module "../../counter/cause.ts" {
  interface TaskKinds {
    readonly mergeItems: true;
  }
}

declare module "../../counter/types.ts" {
  interface FeatureSettings {
    /** Whether the most frequent items are found. */
    readonly items: boolean;
  }
}

export const itemsPlan = {
  name: "items",
  tableRows: { "[frequent items](events.md#top-items)": "ITEMS" },
  parameters: {
    ITEMS: {
      default: "no",
      choices: YES_OR_NO,
      label: "Items",
      description: "Whether the most frequent items of events are found, such as the most played songs.",
      accepted: "`yes`: the [most frequent items](events.md#top-items), such as songs",
    },
  },
  settings: (values) => ({ items: values.isYes("ITEMS") }),
  functions: {
    mergeitems: {
      does: "Merges new items into the summary of a counter, and publishes the most frequent ones.",
      without: "items that events bring are not counted",
      askedForBy: "ITEMS",
      trigger: { on: "created", root: "COLLECTION", path: "{counterId}/tallyItemCounts/{id}" },
    },
    merge: mergeQueue("mergeItems", "ITEMS"),
  },
} satisfies FeaturePlan<"items">;
