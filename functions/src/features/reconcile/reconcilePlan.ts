/** What scheduled reconciles need of a deployment. They have no parameter: a server sets the schedule of a counter. */
import type { FeaturePlan } from "../../shared/feature.ts";

export const reconcilePlan = {
  name: "reconcile",
  needs: ["collections"],
  roles: [{ role: "roles/eventarc.publisher", if: "EVENTARC_CHANNEL", to: "publish drift events" }],
} satisfies FeaturePlan<"reconcile">;
