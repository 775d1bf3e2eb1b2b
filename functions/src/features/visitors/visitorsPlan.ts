/** What visitors need of a deployment. They do not join publishes. */
import type { FeaturePlan } from "../../shared/feature.ts";
import { mergeQueue } from "../../shared/mergeQueue.ts";

declare module "../../counter/cause.ts" {
  interface TaskKinds {
    readonly mergeVisitors: true;
  }
}

declare module "../../counter/types.ts" {
  interface FeatureSettings {
    /** What counts visitors: nothing, clients, or requests to `ingest`, too. */
    readonly visitors: (typeof CHOICES)[number];
  }
}

const CHOICES = ["no", "yes", "ingest"] as const;

export const visitorsPlan = {
  name: "visitors",
  tableRows: { "[visitors](guide/visitors.md)": "VISITORS" },
  parameters: {
    VISITORS: {
      default: "no",
      choices: CHOICES,
      label: "Visitors",
      description:
        "Whether visitors are counted: how many different people, beside how often. ingest: also those of requests to " +
        "ingest. With them a script can inflate the number without bounds.",
      accepted: "`yes`; `ingest`: also visitors of requests, which [inflate the number](events.md#what-a-request-gets)",
    },
  },
  settings: (values) => ({ visitors: values.choice("VISITORS", CHOICES) }),
  functions: {
    mergevisitors: {
      does: "Merges new visitors into the sketch of a counter, and publishes how many there were.",
      without: "visitors are not counted",
      askedForBy: "VISITORS",
      trigger: { on: "written", root: "COLLECTION", path: "{counterId}/tallyVisitors/{bucket}" },
    },
    merge: mergeQueue("mergeVisitors", "VISITORS"),
  },
} satisfies FeaturePlan<"visitors">;
