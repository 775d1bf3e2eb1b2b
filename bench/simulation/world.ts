import type { Random } from "../../core/src/index.ts";
import type { Millis } from "../../functions/src/decisions.ts";
import type { Clock } from "./clock.ts";
import type { Metrics } from "./metrics.ts";
import type { Settings } from "./settings.ts";

/** What one run shares. */
export interface World {
  readonly clock: Clock;
  readonly settings: Settings;
  /** Begins anew after the warm-up. */
  metrics: Metrics;
  /** For shards and backoffs. */
  readonly random: Random;
  /** For the shards whose marks the functions look at. */
  readonly randomLook: Random;
  /** Pending increments that a document makes wait. */
  readonly waiting: Set<{ readonly issuedAt: Millis }>;
}
