/** Totals by HTTP in a publish: readers order them by `asOf`, which direct increments do not move. So each total is published. */
import type { FeaturePlan } from "../counter/types.ts";
import type { Config } from "../features/config.ts";
import { isListed } from "../http/counterList.ts";

export const totalsPlan = {
  name: "totals",
  needsPublishes: ({ ref }, { servedCounters }: Config) => ref !== undefined && isListed(servedCounters, ref.id),
} satisfies FeaturePlan;
