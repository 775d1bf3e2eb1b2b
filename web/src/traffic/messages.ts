/** The messages between the page and the worker that sends traffic. */
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";

/** Stops with 0; else starts, or changes the rate. */
export type TrafficCommand = { readonly perSecond: 0 } | { readonly perSecond: number; readonly setup: FirebaseSetup };

/** What happened since the last report. */
export interface TrafficReport {
  /** When increments were acknowledged: milliseconds since the epoch. */
  readonly acknowledged: readonly number[];
  readonly failed: number;
  /** Whether `npm start` was asked for increments that this browser could not send. */
  readonly hasRequestedHelp: boolean;
  /** Increments that are sent and not acknowledged, now. */
  readonly inFlight: number;
}
