/**
 * Pushes the register of this region, and those that it knows of others, to the counter document of another region. An exchange that
 * was late or is repeated finds later registers there, and writes nothing.
 */
import type { DocumentReference } from "firebase-admin/firestore";
import { groupOf, mergeRegisters, type RegionTotals } from "../../../../core/src/index.ts";
import type { Backend } from "../../counter/backend.ts";
import { readCounter } from "../../counter/counterDocument.ts";
import { logError } from "../../counter/log.ts";
import type { Millis } from "../../counter/time.ts";
import type { CounterState } from "../../counter/types.ts";
import type { Regions } from "./parseRegions.ts";
import { EXCHANGED, NO_REGIONS } from "./regionHooks.ts";
import { globalFields } from "./registers.ts";
import { untilUnchanged } from "./untilUnchanged.ts";

/**
 * Cost: 1 read, and 1 write if a register is news there. A publish of that region that comes in between adds a read.
 *
 * @param known    the registers to push, by region
 * @param counter  in the region to write to
 */
export async function pushTotals(
  known: RegionTotals<Millis>,
  counter: DocumentReference,
  region: string,
  regions: Regions,
  sleep: Backend["sleep"],
): Promise<void> {
  const { [region]: itsOwn, ...news } = known;
  await untilUnchanged(sleep, async () => {
    const there = await readCounter(counter, EXCHANGED);
    if (itsOwn && there.published && there.published.asOf < itsOwn.asOf) warnOfRestored(counter, region);
    const { totals } = there.regions ?? NO_REGIONS;
    const merged = mergeRegisters(totals, news);
    if (merged !== totals) await write(there, region, merged, regions);
  });
}

/**
 * Publishes the global total of a counter whose last publish was made before there were regions. Cost: 1 read, and 1 write if it was.
 */
export async function publishGlobal(
  counter: DocumentReference,
  regions: Regions,
  sleep: Backend["sleep"],
): Promise<void> {
  await untilUnchanged(sleep, async () => {
    const state = await readCounter(counter, EXCHANGED);
    if (state.published && state.published.regions?.exchangeAt === undefined)
      await write(state, regions.own, (state.regions ?? NO_REGIONS).totals, regions);
  });
}

/** @throws FAILED_PRECONDITION or ALREADY_EXISTS if the document has changed since it was read */
async function write(
  { ref, updateTime, published }: CounterState,
  region: string,
  others: RegionTotals<Millis>,
  regions: Regions,
): Promise<void> {
  const fields = { ...globalFields(region, published, others, regions, updateTime !== undefined) };
  if (updateTime) await ref.update(fields, { lastUpdateTime: updateTime });
  else await ref.create({ group: groupOf(ref.id), ...fields });
}

/** A register has a later instant than the document that it is from. Only a backup can have brought that back. */
function warnOfRestored({ id }: DocumentReference, region: string): void {
  logError("a region has lost increments that this one knows of: it was restored from a backup", {
    counter: id,
    region,
  });
}
