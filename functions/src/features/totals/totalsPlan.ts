/** Totals by HTTP in a publish: readers order them by `asOf`, which direct increments do not move. So each total is published. */
import { type CounterList, groupsOfList, isListed, parseCounterList } from "../../shared/counterList.ts";
import type { FeaturePlan } from "../../shared/feature.ts";

declare module "../../counter/types.ts" {
  interface FeatureSettings {
    /** The counters whose totals anyone may read by HTTP. */
    readonly totals: CounterList;
  }
}

export const totalsPlan = {
  name: "totals",
  tableRows: { "[totals by HTTP](events.md#totals-for-crowds)": "TOTALS_COUNTERS" },
  parameters: {
    TOTALS_COUNTERS: {
      default: "",
      label: "Counters of totals",
      description:
        "The counters whose totals the function totals shows to anyone on the internet, whatever the rules say: list only " +
        "those that the rules let every client read. Ids, groups such as views:*, and expressions such as " +
        "/views:[a-z0-9-]{1,40}/, separated by commas. Empty: none.",
      accepted: "whose totals anyone may read, whatever the rules say: as `INGEST_COUNTERS`",
    },
  },
  settings: (values) => ({ totals: parseCounterList(values.text("TOTALS_COUNTERS"), "TOTALS_COUNTERS") }),
  functions: {
    totals: {
      does: "Shows the totals of public counters by HTTP, for caches.",
      without: "totals cannot be read by HTTP",
      askedForBy: "TOTALS_COUNTERS",
      trigger: { on: "request" },
    },
  },
  groupsThatNeedPublishes: ({ totals }) => groupsOfList(totals),
  needsPublishes: ({ ref }, { totals }) => ref !== undefined && isListed(totals, ref.id),
} satisfies FeaturePlan<"totals">;
