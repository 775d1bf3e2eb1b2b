/** Pushes a counter from this region to others, and finds out which of them cannot be reached. */
import type { DocumentReference } from "firebase-admin/firestore";
import { codeOf, DEADLINE_EXCEEDED, sketchPath, UNAVAILABLE } from "../../../../core/src/index.ts";
import type { Backend } from "../../counter/backend.ts";
import { logError } from "../../counter/log.ts";
import type { Millis } from "../../counter/time.ts";
import type { CounterState } from "../../counter/types.ts";
import type { OtherRegion, OtherRegions } from "./connect.ts";
import type { Regions } from "./parseRegions.ts";
import { NO_REGIONS } from "./regionHooks.ts";
import { registerOf } from "./registers.ts";
import { pushTotals } from "./totals.ts";
import { pushVisitors } from "./visitors.ts";

/** How long it may take to push a counter to a region, before that counts as failed. */
const TIMEOUT: Millis = 3_000;

/** For how long an instance does not try a region again that it has not reached: its other calls fail at once. */
const PAUSE: Millis = 500;

/** Codes of errors that say nothing of the counter. */
const UNREACHABLE: readonly number[] = [UNAVAILABLE, DEADLINE_EXCEEDED];

/** What is needed of the backend. */
export type Source = Pick<Backend, "counters" | "now" | "sleep"> & { readonly otherRegions: OtherRegions };

export function sourceOf({ counters, now, sleep, connections: { regions = new Map() } }: Backend): Source {
  return { counters, now, sleep, otherRegions: regions };
}

/** Pushes what was read to the counter of a region. */
type Push = (region: string, counter: DocumentReference) => Promise<void>;

/** How to push the registers that this region knows of to another. `undefined` if there are none: the counter was deleted. */
export function totalsPush(own: CounterState, regions: Regions, sleep: Backend["sleep"]): Push | undefined {
  const { totals } = own.regions ?? NO_REGIONS;
  const known = own.published ? { ...totals, [regions.own]: registerOf(own.published) } : totals;
  if (Object.keys(known).length === 0) return undefined;
  return (region, counter) => pushTotals(known, counter, region, regions, sleep);
}

/**
 * Publishes the visitors of all regions in this one. Cost: 1 read, and that of `pushVisitors`.
 *
 * @returns how to push this region's sketch to another region; `undefined` if it was deleted
 */
export async function publishVisitorsHere(
  counter: DocumentReference,
  { own }: Regions,
  sleep: Backend["sleep"],
): Promise<Push | undefined> {
  const sketch = await counter.firestore.doc(sketchPath(counter.path)).get();
  if (!sketch.exists) return undefined;
  await pushVisitors(sketch, own, counter, true, sleep);
  return (_region, there) => pushVisitors(sketch, own, there, false, sleep);
}

/**
 * Pushes a counter to regions. While an instance does not know whether it can reach one again, a single call tries, and the others wait
 * for what comes of that.
 *
 * @returns the regions that failed
 */
export async function pushTo(
  { otherRegions, now, sleep }: Source,
  names: readonly string[],
  counterId: string,
  push: Push | undefined,
): Promise<string[]> {
  if (!push) return [];
  const reach = async (name: string, region: OtherRegion): Promise<void> => {
    const timeout = sleep(TIMEOUT).then(() => {
      throw Object.assign(new Error(`no answer for ${TIMEOUT} ms`), { code: DEADLINE_EXCEEDED });
    });
    try {
      await Promise.race([push(name, region.counters.doc(counterId)), timeout]);
      region.isFailing = false;
    } catch (error) {
      failed.push(name);
      if (!UNREACHABLE.includes(codeOf(error) ?? 0)) {
        logError("could not push a counter to a region", { counter: counterId, region: name, error });
        return;
      }
      if (!region.isFailing) logError("could not reach a region", { region: name, error });
      region.isFailing = true;
      region.pausedUntil = now() + PAUSE;
    }
  };
  const failed: string[] = [];
  const tryRegion = async (name: string): Promise<void> => {
    const region = otherRegions.get(name) as OtherRegion;
    await region.trial;
    if (region.isFailing && now() < region.pausedUntil) {
      failed.push(name);
      return;
    }
    if (!region.isFailing) return await reach(name, region);
    region.trial = reach(name, region);
    await region.trial;
    region.trial = undefined;
  };
  await Promise.all(names.map(tryRegion));
  return failed;
}
