/** Reads what each region has of the sampled counters of the others. It writes nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CollectionReference } from "firebase-admin/firestore";
import type { RegionTotal } from "../../../core/src/index.ts";
import { readCounter } from "../../../functions/src/counter/counterDocument.ts";
import type { CounterState } from "../../../functions/src/counter/types.ts";
import { connectOtherRegions } from "../../../functions/src/features/regions/connect.ts";
import type { Regions } from "../../../functions/src/features/regions/parseRegions.ts";
import { EXCHANGED } from "../../../functions/src/features/regions/regionHooks.ts";
import type { CommandContext } from "../commandContext.ts";
import type { Exchange } from "./facts.ts";
import type { ReadMeter } from "./readMeter.ts";

/** An exchange that is later than this has failed or was lost. */
const LATE_MS = 10_000;

/** An exchange that is due later is not waited for. */
const LONGEST_WAIT_MS = 15_000;

/** Counters read at the same time. */
const CONCURRENCY = 20;

/** What a region has published of a counter, and what of that has arrived in another one. */
interface Delivery {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly published: Pick<RegionTotal<number>, "total" | "asOf">;
  readonly arrived: Pick<RegionTotal<number>, "total" | "asOf"> | undefined;
  /** When the exchange that pushes it is due. */
  readonly dueAt: number;
}

/**
 * Waits a few seconds for exchanges that are not done.
 *
 * Cost: for each counter 1 read, and 1 for each other region; 2 more for each exchange that is not done.
 *
 * @param ids  of the counters
 */
export async function readRegions(
  { app, firestore, target }: CommandContext,
  regions: Regions,
  ids: readonly string[],
  meter: ReadMeter,
): Promise<Exchange[]> {
  const counters = new Map([[regions.own, firestore.collection(target.collection)]]);
  for (const [name, other] of connectOtherRegions(app, regions, target.collection)) counters.set(name, other.counters);
  const read = (region: string, id: string) => {
    meter.reads++;
    return readCounter((counters.get(region) as CollectionReference).doc(id), EXCHANGED);
  };
  const deliveries: Delivery[] = [];
  for (let start = 0; start < ids.length; start += CONCURRENCY) {
    const page = ids.slice(start, start + CONCURRENCY).map(async (id) => {
      const own = await read(regions.own, id);
      const others = await Promise.all(regions.others.map(async ({ name }) => [name, await read(name, id)] as const));
      return others.flatMap(([name, other]) => [
        ...deliveryOf(id, regions.own, name, own, other),
        ...deliveryOf(id, name, regions.own, other, own),
      ]);
    });
    deliveries.push(...(await Promise.all(page)).flat());
  }
  const open = deliveries.filter(differs);
  const waits = open.map(({ dueAt }) => dueAt + LATE_MS - Date.now());
  await sleep(Math.max(0, ...waits.filter((wait) => wait <= LONGEST_WAIT_MS)));
  const checked = open.map(async (before): Promise<Exchange> => {
    const { id, from, to } = before;
    // In this order, so that nothing seems to have arrived before it was published.
    const there = await read(to, id);
    const [after] = deliveryOf(id, from, to, await read(from, id), there);
    return { id, from, to, trouble: after ? troubleOf(before, after) : null };
  });
  const done = deliveries.filter((delivery) => !differs(delivery));
  return [...done.map(({ id, from, to }) => ({ id, from, to, trouble: null })), ...(await Promise.all(checked))];
}

/** `[]` if the region has published nothing. */
function deliveryOf(
  id: string,
  from: string,
  to: string,
  { published }: CounterState,
  { regions }: CounterState,
): Delivery[] {
  return published
    ? [
        {
          id,
          from,
          to,
          published,
          arrived: regions?.totals[from],
          dueAt: published.regions?.exchangeAt ?? published.asOf,
        },
      ]
    : [];
}

function differs({ published, arrived }: Delivery): boolean {
  return (arrived?.total ?? 0) !== published.total;
}

/** @param before  the same, a while ago */
function troubleOf(before: Delivery, after: Delivery): Exchange["trouble"] {
  const { published, arrived } = after;
  if (!differs(after)) return null;
  if (arrived && arrived.asOf > published.asOf) return "lost";
  const hasArrived = arrived !== undefined && arrived.asOf >= before.published.asOf;
  return !hasArrived && Date.now() >= before.dueAt + LATE_MS ? "behind" : null;
}
