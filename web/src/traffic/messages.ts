/** The messages between the page and the worker that sends traffic. */
import type { FirebaseSetup } from "../firebase/firebaseSetup.ts";

/** Stops with 0; else starts, or changes the rate. */
export type TrafficCommand = { readonly perSecond: 0 } | { readonly perSecond: number; readonly setup: FirebaseSetup };

/** What happened since the last report. */
export interface TrafficReport {
  /** When increments were acknowledged: milliseconds since the epoch. */
  readonly acknowledged: readonly number[];
  readonly failed: number;
  /** Increments that this browser could not send, and that `npm start` was asked for. */
  readonly helpRequested: number;
  /** Increments that are sent and not acknowledged, now. */
  readonly inFlight: number;
}
