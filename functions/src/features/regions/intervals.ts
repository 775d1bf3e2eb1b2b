/**
 * How often a counter of several regions is published and exchanged: so rarely that its document takes all the writes.
 *
 * A document takes about one write a second. That of a busy counter gets one write for each publish of its own region, and one for each
 * exchange from each other region. Half of the second is for the publishes, the other half for the exchanges.
 */
import type { CounterSettings } from "../../counter/types.ts";
import type { RegionSettings } from "./parseRegions.ts";

/** Writes per second that one document takes for long (https://firebase.google.com/docs/firestore/best-practices). */
const DOCUMENT_WRITES_PER_SECOND = 1;

type Intervals = Pick<CounterSettings, "minInterval" | "maxInterval"> & Pick<RegionSettings, "exchangeInterval">;

/**
 * The intervals of a deployment, lengthened to what the document of a counter takes. One region alone keeps its own.
 *
 * @param regionCount  how many databases count the same counters, its own included
 */
export function intervalsOf<Given extends Intervals>(given: Given, regionCount: number): Given {
  const others = regionCount - 1;
  if (others < 1) return given;
  const sharedBy = (writers: number) => (2_000 * writers) / DOCUMENT_WRITES_PER_SECOND;
  const minInterval = Math.max(given.minInterval, sharedBy(1));
  return {
    ...given,
    minInterval,
    maxInterval: Math.max(given.maxInterval, minInterval),
    exchangeInterval: Math.max(given.exchangeInterval, sharedBy(others)),
  };
}
