/** What the page and the worker that sends traffic tell each other. */
import type { Setup } from "../firebase/hosting.ts";

export interface Order {
  readonly setup: Setup;
  /** 0 stops. */
  readonly perSecond: number;
}

/** Since the last report. */
export interface Report {
  /** When increments were acknowledged: milliseconds since the epoch. */
  readonly acknowledged: readonly number[];
  readonly failed: number;
  /** What was asked of others, because this browser could not send it. */
  readonly asked: number;
  /** Sent and not acknowledged yet, now. */
  readonly underWay: number;
}
