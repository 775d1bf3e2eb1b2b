/** The pure halves of all features, which pages and simulators use without Firebase. features.ts has the features themselves. */
import type { FeaturePlan } from "../shared/feature.ts";
import { adoptedPlan } from "./adopted/adoptedPlan.ts";
import { bridgePlan } from "./bridge/bridgePlan.ts";
import { collectionsPlan } from "./collections/collectionsPlan.ts";
import { eventLogPlan } from "./eventLog/eventLogPlan.ts";
import { historyPlan } from "./history/historyPlan.ts";
import { ingestPlan } from "./ingest/ingestPlan.ts";
import { itemsPlan } from "./items/itemsPlan.ts";
import { mirrorsPlan } from "./mirrors/mirrorsPlan.ts";
import { reconcilePlan } from "./reconcile/reconcilePlan.ts";
import { regionsPlan } from "./regions/regionsPlan.ts";
import { stockPlan } from "./stock/stockPlan.ts";
import { totalsPlan } from "./totals/totalsPlan.ts";
import { visitorsPlan } from "./visitors/visitorsPlan.ts";
import { windowsPlan } from "./windows/windowsPlan.ts";

/** In the order of their parameters, and after the features whose settings they change. Decisions do not depend on the order. */
export const FEATURE_PLANS: readonly FeaturePlan[] = [
  visitorsPlan,
  collectionsPlan,
  mirrorsPlan,
  windowsPlan,
  historyPlan,
  regionsPlan,
  ingestPlan,
  itemsPlan,
  eventLogPlan,
  totalsPlan,
  adoptedPlan,
  bridgePlan,
  stockPlan,
  reconcilePlan,
];
