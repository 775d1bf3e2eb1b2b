/** Brings a counter from this region to others, and finds out which of them cannot be reached. */
import type { DocumentReference } from "firebase-admin/firestore";
import { codeOf, DEADLINE_EXCEEDED, sketchPath, UNAVAILABLE } from "../../../core/src/index.ts";
import type { Backend } from "../backend.ts";
import { type CounterState, readCounter } from "../counterDocument.ts";
import { logError } from "../log.ts";
import type { Millis } from "../time.ts";
import type { Regions } from "./config.ts";
import type { OtherRegion } from "./connect.ts";
import { registerOf } from "./registers.ts";
import { bringTotals, publishGlobal } from "./totals.ts";
import { bringVisitors } from "./visitors.ts";

/** How long it may take to bring a counter to a region, before that counts as failed. */
const TIMEOUT: Millis = 3_000;

/**
 * For how long an instance does not try a region that it has not reached. Then one call tries, and the others wait for what
 * comes of that: busy counters must not take up all tasks.
 */
const PAUSE: Millis = 500;

/** Codes of errors that say nothing of the counter. */
const UNREACHABLE: readonly number[] = [UNAVAILABLE, DEADLINE_EXCEEDED];

/** What is needed of the backend. */
export type Source = Pick<Backend, "counters" | "otherRegions" | "now" | "sleep">;

/** Brings what was read to the counter of a region. */
type Bring = (region: string, counter: DocumentReference) => Promise<void>;

/** Brings the registers that this region knows of. `undefined` if there are none: the counter was deleted. */
export function totalsOf(own: CounterState, regions: Regions, sleep: Backend["sleep"]): Bring | undefined {
  const known = own.published ? { ...own.regions, [regions.own]: registerOf(own.published) } : own.regions;
  if (Object.keys(known).length === 0) return undefined;
  return (region, counter) => bringTotals(known, counter, region, regions, sleep);
}

/**
 * Publishes the visitors of all regions in this one, and brings its own to others. `undefined` without a sketch: it was deleted.
 * Cost: 1 read, and that of `bringVisitors`.
 */
export async function visitorsOf(
  counter: DocumentReference,
  { own }: Regions,
  sleep: Backend["sleep"],
): Promise<Bring | undefined> {
  const sketch = await counter.firestore.doc(sketchPath(counter.path)).get();
  if (!sketch.exists) return undefined;
  await bringVisitors(sketch, own, counter, true, sleep);
  return (_region, there) => bringVisitors(sketch, own, there, false, sleep);
}

/**
 * Brings a counter to all other regions, whether it has changed or not: its total, what is known of third regions, and its visitors.
 * Cost: 2 reads, and what bringing costs (`totals.ts`, `visitors.ts`).
 *
 * @returns the regions that failed, in the order of their names
 */
export async function exchangeCounter(source: Source, regions: Regions, counterId: string): Promise<string[]> {
  const { counters, otherRegions, sleep } = source;
  const own = await readCounter(counters.doc(counterId));
  if (own.published && own.published.exchangeAt === undefined) await publishGlobal(own.ref, regions, sleep);
  const names = [...otherRegions.keys()];
  const failed = await bringTo(source, names, counterId, totalsOf(own, regions, sleep));
  const without = await bringTo(source, names, counterId, await visitorsOf(own.ref, regions, sleep));
  return [...new Set([...failed, ...without])].sort();
}

/** @returns the regions that failed or were not tried, in the order of their names */
export async function bringTo(
  { otherRegions, now, sleep }: Source,
  names: readonly string[],
  counterId: string,
  bring: Bring | undefined,
): Promise<string[]> {
  if (!bring) return [];
  const regionOf = (name: string) => otherRegions.get(name) as OtherRegion;
  const failed = names.filter((name) => now() < regionOf(name).pausedUntil);
  const tried = names.filter((name) => !failed.includes(name));
  const tryRegion = async (name: string) => {
    const region = regionOf(name);
    if (region.failing) region.pausedUntil = now() + TIMEOUT;
    const timeout = sleep(TIMEOUT).then(() => {
      throw Object.assign(new Error(`no answer for ${TIMEOUT} ms`), { code: DEADLINE_EXCEEDED });
    });
    try {
      await Promise.race([bring(name, region.counters.doc(counterId)), timeout]);
      region.failing = false;
      region.pausedUntil = 0;
    } catch (error) {
      failed.push(name);
      if (!UNREACHABLE.includes(codeOf(error) ?? 0)) {
        logError("could not bring a counter to a region", { counter: counterId, region: name, error });
        return;
      }
      if (!region.failing) logError("could not reach a region", { region: name, error });
      region.failing = true;
      region.pausedUntil = now() + PAUSE;
    }
  };
  await Promise.all(tried.map(tryRegion));
  return failed.sort();
}
