/** The exchange of one counter: brings what this region has counted to the others. Regions that fail are tried again. */
import type { DocumentReference } from "firebase-admin/firestore";
import { codeOf, DEADLINE_EXCEEDED, sketchPath, UNAVAILABLE } from "../../../core/src/index.ts";
import type { Backend } from "../backend.ts";
import type { AggregationTask, Exchange } from "../cause.ts";
import { readCounter } from "../counterDocument.ts";
import { logError } from "../log.ts";
import type { Millis } from "../time.ts";
import type { Regions } from "./config.ts";
import type { OtherRegion } from "./connect.ts";
import { registerOf } from "./registers.ts";
import { nextAttemptAt } from "./schedule.ts";
import { bringTotals, publishGlobal } from "./totals.ts";
import { bringVisitors } from "./visitors.ts";

/** How long an exchange with one region may take, before it counts as failed. */
const TIMEOUT: Millis = 3_000;

/**
 * For how long an instance does not try a region that it has not reached. Then one exchange tries, and the others wait for what
 * comes of that: the totals of busy counters must not take up all tasks.
 */
const PAUSE: Millis = 500;

/** Codes of errors that say nothing of the counter. */
const UNREACHABLE: readonly number[] = [UNAVAILABLE, DEADLINE_EXCEEDED];

/** What an exchange needs of the backend. */
type Source = Pick<Backend, "counters" | "otherRegions" | "now" | "sleep">;

/** Brings what was read to the counter of a region. */
type Bring = (region: string, counter: DocumentReference) => Promise<void>;

/**
 * Runs a task: waits until it is due by this clock, then brings the counter to the regions. Those that fail are tried again by another
 * task. Cost: that of the exchange, and 1 task operation if a region fails.
 */
export async function runExchange(backend: Backend, { counterId, due, exchange }: AggregationTask): Promise<void> {
  const { config, otherRegions, snapshotLag, now, sleep, schedule } = backend;
  await sleep(due + snapshotLag - now());
  if (!config.regions || !exchange) return;
  const failed = await exchangeCounter(backend, config.regions, counterId, exchange);
  if (failed.length === 0) return;
  const starts = [exchange, ...failed.map((name) => otherRegions.get(name))].map((one) => one?.failingSince ?? now());
  const failingSince = Math.min(...starts);
  // By a slow clock it could be the instant of this task, whose name is taken.
  const at = nextAttemptAt(failingSince, Math.max(now(), due));
  await schedule({ counterId, due: at, isPoll: false, exchange: { ...exchange, regions: failed, failingSince } });
}

/**
 * Brings a counter to other regions, whether it has changed or not. Cost: 1 read, and what bringing costs (`totals.ts`,
 * `visitors.ts`); nothing if no region is tried.
 *
 * @returns the regions that failed or were not tried, in the order of their names
 */
export async function exchangeCounter(
  source: Source,
  regions: Regions,
  counterId: string,
  { regions: names, visitors }: Exchange,
): Promise<string[]> {
  const { otherRegions, now, sleep } = source;
  // One that is unknown is no longer among the regions.
  const wanted = (names.length > 0 ? names : [...otherRegions.keys()]).filter((name) => otherRegions.has(name));
  const failed = wanted.filter((name) => now() < (otherRegions.get(name) as OtherRegion).pausedUntil);
  const tried = wanted.filter((name) => !failed.includes(name));
  const bring = tried.length > 0 ? await (visitors ? readVisitors : readTotals)(source, counterId, regions) : undefined;
  const bringTo = async (name: string) => {
    const region = otherRegions.get(name) as OtherRegion;
    if (region.failingSince !== undefined) region.pausedUntil = now() + TIMEOUT;
    const timeout = sleep(TIMEOUT).then(() => {
      throw Object.assign(new Error(`no answer for ${TIMEOUT} ms`), { code: DEADLINE_EXCEEDED });
    });
    try {
      await Promise.race([bring?.(name, region.counters.doc(counterId)), timeout]);
      region.failingSince = undefined;
      region.pausedUntil = 0;
    } catch (error) {
      failed.push(name);
      if (!UNREACHABLE.includes(codeOf(error) ?? 0)) {
        logError("could not bring a counter to a region", { counter: counterId, region: name, error });
        return;
      }
      if (region.failingSince === undefined) logError("could not reach a region", { region: name, error });
      region.failingSince ??= now();
      region.pausedUntil = now() + PAUSE;
    }
  };
  if (bring) await Promise.all(tried.map(bringTo));
  return failed.sort();
}

/** @returns `undefined` if no region is known to have counted: the counter was deleted since */
async function readTotals(
  { counters, sleep }: Source,
  counterId: string,
  regions: Regions,
): Promise<Bring | undefined> {
  const own = await readCounter(counters.doc(counterId));
  if (own.published && own.published.exchangeAt === undefined) await publishGlobal(own.ref, regions, sleep);
  const known = own.published ? { ...own.regions, [regions.own]: registerOf(own.published) } : own.regions;
  if (Object.keys(known).length === 0) return undefined;
  return (region, counter) => bringTotals(known, counter, region, regions, sleep);
}

/** Publishes the visitors of all regions in this one. @returns `undefined` without a sketch: it was deleted since */
async function readVisitors(
  { counters, sleep }: Source,
  counterId: string,
  { own }: Regions,
): Promise<Bring | undefined> {
  const counter = counters.doc(counterId);
  const sketch = await counter.firestore.doc(sketchPath(counter.path)).get();
  if (!sketch.exists) return undefined;
  await bringVisitors(sketch, own, counter, true, sleep);
  return (_region, there) => bringVisitors(sketch, own, there, false, sleep);
}
