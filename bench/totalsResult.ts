/** What the benchmark of totals for a crowd of readers has found. */
import type { Percentiles } from "../testkit/statistics.ts";
import type { HttpLoadResult } from "./httpLoad.ts";

export interface TotalsResult {
  readonly counters: number;
  readonly seconds: number;
  /** Increments per second of all counters: 19 of 20 are the first counter's. */
  readonly writesPerSecond: number;
  readonly offeredPerSecond: number;
  readonly answeredPerSecond: number;
  /** By status. */
  readonly answers: HttpLoadResult["answers"];
  readonly answered: Percentiles;
  readonly bytesPerAnswer: number;
  /** Requests that the proxy passed on to the function. */
  readonly passedOnPerSecond: number;
  readonly readsPerCounterAndSecond: number;
  /** Since when the oldest increment is acknowledged that a reader does not see yet: of all counters, and of the first one. */
  readonly age: Percentiles;
  readonly busiestAge: Percentiles;
  /** Answers whose age was checked, and those that were older than the same reader's answer before. */
  readonly checked: number;
  readonly wentBack: number;
}
