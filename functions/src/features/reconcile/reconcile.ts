/** Scheduled reconciles: the sweep compares the counters that are due with the documents that they count. */
import { defineFeature } from "../../shared/feature.ts";
import { reconcileDue } from "./reconcileDue.ts";
import { reconcilePlan } from "./reconcilePlan.ts";

export const reconcile = defineFeature({ ...reconcilePlan, sweep: reconcileDue });
