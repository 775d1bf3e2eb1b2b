/** The pure halves of the features that plan something for a publish. */
import type { FeaturePlan } from "../counter/types.ts";
import { totalsPlan } from "../totals/totalsPlan.ts";
import { adoptedPlan } from "./adopted/adoptedPlan.ts";
import { collectionsPlan } from "./collections/collectionsPlan.ts";
import { historyPlan } from "./history/history.ts";
import { mirrorsPlan } from "./mirrors/mirrorsPlan.ts";
import { regionsPlan } from "./regions/schedule.ts";
import { stockPlan } from "./stock/stockPlan.ts";
import { windowsPlan } from "./windows/windows.ts";

export const FEATURE_PLANS: readonly FeaturePlan[] = [
  windowsPlan,
  mirrorsPlan,
  historyPlan,
  regionsPlan,
  stockPlan,
  collectionsPlan,
  adoptedPlan,
  totalsPlan,
];
