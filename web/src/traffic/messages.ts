/** What the page and the worker that sends traffic tell each other. */
import type { Setup } from "../firebase/hosting.ts";

/** Stops, or starts or goes on at another rate. */
export type Order = { readonly perSecond: 0 } | { readonly perSecond: number; readonly setup: Setup };

/** Since the last report. */
export interface Report {
  /** When increments were acknowledged: milliseconds since the epoch. */
  readonly acknowledged: readonly number[];
  readonly failed: number;
  /** Whether others were asked for what this browser could not send. */
  readonly hasAsked: boolean;
  /** Sent and not acknowledged yet, now. */
  readonly underWay: number;
}
