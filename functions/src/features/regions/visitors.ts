/**
 * Visitors of several regions: the sketch of each is pushed to the others, and each publishes the estimate of their union. A user who
 * has visited in two regions counts once.
 *
 * Whatever changes a sketch writes the counter document in the same commit. So the estimate belongs to the sketches that were
 * read after the counter document, if that is still as it was read.
 */
import type { DocumentReference, DocumentSnapshot } from "firebase-admin/firestore";
import { groupOf, regionSketchId, SKETCHES, Sketch, type StoredSketch, UNIQUES } from "../../../../core/src/index.ts";
import { unchanged } from "../../../../firestore/src/index.ts";
import type { Backend } from "../../counter/backend.ts";
import { logError } from "../../counter/log.ts";
import { mergedUntil } from "../../shared/merge.ts";
import { untilUnchanged } from "./untilUnchanged.ts";

/**
 * Pushes a sketch to another region, and publishes the estimate there; in the region that the sketch is of, the estimate alone.
 *
 * Cost: 1 read and 1 read per sketch; 2 writes, or 1 in the own region. Nothing is written if the other region has this sketch or
 * a later one.
 *
 * @param sketch  the region's own
 * @param from    its name
 * @param there   the counter in the region to write to
 * @param isOwn   whether that is the same region
 */
export async function pushVisitors(
  sketch: DocumentSnapshot,
  from: string,
  there: DocumentReference,
  isOwn: boolean,
  sleep: Backend["sleep"],
): Promise<void> {
  const id = regionSketchId(from);
  await untilUnchanged(sleep, async () => {
    const counter = await there.get();
    const sketches = (await there.collection(SKETCHES).get()).docs.filter(isOfVisitors);
    const known = sketches.find((one) => one.id === id);
    if (!isOwn && known && mergedUntil(known) >= mergedUntil(sketch)) return;
    const all = isOwn ? sketches : [...sketches.filter((one) => one !== known), sketch];
    // The region's own estimate never falls where its sketch becomes registers.
    const globalUniques = Math.max(estimate(all), counter.get("uniques") ?? 0);
    if (isOwn && counter.get("globalUniques") === globalUniques) return;
    const batch = there.firestore.batch();
    if (!isOwn) {
      const { format, bytes, asOf } = sketch.data() as StoredSketch & { asOf: unknown };
      batch.set(there.collection(SKETCHES).doc(id), { format, bytes, asOf });
    }
    if (counter.exists) batch.update(there, { globalUniques }, unchanged(counter));
    else batch.create(there, { group: groupOf(there.id), globalUniques });
    await batch.commit();
  });
}

/** There are sketches of items, too. */
function isOfVisitors({ id }: DocumentSnapshot): boolean {
  return id === UNIQUES || id.startsWith(regionSketchId(""));
}

/** How many different visitors several sketches have. */
function estimate(sketches: readonly DocumentSnapshot[]): number {
  const union = new Sketch();
  for (const one of sketches) {
    try {
      union.merge(Sketch.parse(one.data() as StoredSketch));
    } catch (error) {
      logError("left a damaged sketch out of the visitors of all regions", { sketch: one.ref.path, error });
    }
  }
  return Math.round(union.estimate());
}
