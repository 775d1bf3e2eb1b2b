/** Readers of totals by HTTP who look at what they get: how old it is, and whether it is older than what they got before. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Millis, Percentiles } from "../testkit/statistics.ts";
import type { HttpLoadResult } from "./httpLoadProcess.ts";
import { epochNow } from "./writers.ts";

/** What the benchmark of totals measures. */
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

/** What a reader got of one counter. */
export interface Sight {
  readonly at: Millis;
  readonly id: string;
  /** 0 before the first publish. */
  readonly total: number;
  readonly asOf: Millis;
}

/** So often a reader asks, at random times. */
const PERIOD: Millis = 250;

/** Asks until `end`, and adds what it sees in its order. */
export async function watchPath(port: number, path: string, end: Millis, sights: Sight[]): Promise<void> {
  while (epochNow() < end) {
    await sleep(2 * PERIOD * Math.random());
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    const { totals } = (await response.json()) as { totals: Record<string, Pick<Sight, "total" | "asOf"> | null> };
    const at = epochNow();
    for (const [id, shown] of Object.entries(totals)) sights.push({ at, id, ...(shown ?? { total: 0, asOf: 0 }) });
  }
}

/**
 * The age of a sight: since when the oldest increment is acknowledged that the total does not have; 0 if it has all. Each
 * increment adds 1.
 *
 * @param sights        by reader, in their order
 * @param acknowledged  the instants of each counter's acknowledgements, in ascending order
 * @returns             ages by counter, and how many sights were older than the reader's sight before
 */
export function readAges(
  sights: readonly (readonly Sight[])[],
  acknowledged: ReadonlyMap<string, readonly Millis[]>,
): { ages: Map<string, Millis[]>; wentBack: number } {
  const ages = new Map<string, Millis[]>();
  let wentBack = 0;
  for (const ofReader of sights) {
    const latest = new Map<string, Sight>();
    for (const sight of ofReader) {
      const { id, at, total, asOf } = sight;
      const missing = acknowledged.get(id)?.[total] ?? Number.POSITIVE_INFINITY;
      const known = ages.get(id) ?? [];
      known.push(Math.max(at - missing, 0));
      ages.set(id, known);
      const before = latest.get(id);
      if (before && (asOf < before.asOf || total < before.total)) wentBack++;
      latest.set(id, sight);
    }
  }
  return { ages, wentBack };
}
