/** What the bridge needs of a deployment: mirrors that also import what others add to their fields. */
import type { FeaturePlan } from "../../shared/feature.ts";
import { FIELDS, mirrorsOf } from "../mirrors/mirrorsPlan.ts";

export const bridgePlan = {
  name: "bridge",
  needs: ["mirrors"],
  tableRows: { "[Google's counter](migration.md)": "BRIDGE" },
  parameters: {
    BRIDGE: {
      ...FIELDS,
      label: "Fields of Google's counter",
      description:
        "Only while you move from Google's counter, extension or kit: the fields that it counts, by group: views=pages/{name}.visits " +
        "counts what old apps add to the field visits of pages/home in views:home, and shows the total in the field.",
      accepted: "as `MIRRORS`; no counter and no field may be in both parameters",
      invalid: "Enter entries such as views=pages/{name}.visits, with commas between them.",
    },
  },
  settings: (values, { collection, mirrors }) => ({
    mirrors: mirrorsOf("BRIDGE", values.text("BRIDGE"), collection, mirrors),
  }),
  functions: {
    legacyshardwritten: {
      does: "Moves what old apps write for Google's counter into counters, while you move from it.",
      without: "increments of old apps are not counted",
      askedForBy: "BRIDGE",
      trigger: { on: "written", path: "{document=**}/_counter_shards_/{shardId}" },
    },
  },
} satisfies FeaturePlan<"bridge">;
