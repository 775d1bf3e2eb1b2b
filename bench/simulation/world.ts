import type { Random } from "../../core/src/index.ts";
import type { Millis } from "../../functions/src/decisions.ts";
import type { Clock } from "./clock.ts";
import type { Metrics } from "./metrics.ts";
import { type Settings, SLOW_COMMITS_AT } from "./settings.ts";

/** How much longer than usual a commit takes that begins now. */
export function commitDelay({ settings, random }: World, now: Millis): Millis {
  const { slowCommitsFor, slowestCommit } = settings;
  const isSlow = now >= SLOW_COMMITS_AT && now < SLOW_COMMITS_AT + slowCommitsFor;
  return isSlow ? slowestCommit * (0.2 + 0.8 * random()) : 0;
}

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
