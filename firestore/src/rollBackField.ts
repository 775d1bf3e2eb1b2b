/** The way back to Google's counter. */

import { type DocumentSnapshot, FieldPath, FieldValue, type Firestore } from "firebase-admin/firestore";
import {
  counterPath,
  differenceBeyondRounding,
  directCountOf,
  isPreconditionFailure,
  type MirrorSource,
  SHARDS,
} from "../../core/src/index.ts";
import { isAmount } from "./legacyShards.ts";
import { mirroredFields, mirroredOf } from "./moveLegacyIncrements.ts";
import { unchanged, writeIfUnchanged } from "./precondition.ts";
import { backoff, retry } from "./retry.ts";
import { sumShards } from "./sum.ts";

/**
 * Gives a field the exact total of its counter, with what was not published yet, for Google's counter to go on from.
 * Like a move (moveLegacyIncrements.ts) it keeps the sum, so it may be repeated while clients count. A field that is gone, or
 * is no amount, gets the total. Nothing is written for a counter that has neither a total nor a part in the field.
 *
 * Cost: 2 reads and the sum of the shards; 1 read more if the field shows the total, else 2 writes.
 *
 * @returns what was added to the field; 0 if there is no such document, which is not created
 */
export async function rollBackField(
  firestore: Firestore,
  collection: string,
  document: string,
  { counterId, field }: MirrorSource,
): Promise<number> {
  const ref = firestore.doc(counterPath(collection, counterId));
  return await retry(async () => {
    for (let tries = 0; ; tries++) {
      const counter = await ref.get();
      const total = (await sumShards(ref.collection(SHARDS))).total + directCountOf(counter);
      const shown = await firestore.doc(document).get();
      if (!shown.exists) return 0;
      if (total === 0 && counter.get("mirrored") === undefined) return 0;
      const isShown = isAmount(shown.get(new FieldPath(...field)));
      const amount = isShown
        ? differenceBeyondRounding(total, mirroredOf(counter, { document, field }), Math.abs(total))
        : total;
      // A counter that has changed since may only happen to agree.
      if (amount === 0 && isShown) {
        if (isSameVersion(counter, await ref.get())) return 0;
        continue;
      }
      const batch = firestore.batch();
      writeIfUnchanged(batch, counter, mirroredFields(total, { document, field }));
      const value = isShown ? FieldValue.increment(amount) : total;
      batch.update(shown.ref, new FieldPath(...field), value, unchanged(shown));
      try {
        await batch.commit();
        return amount;
      } catch (error) {
        if (!isPreconditionFailure(error)) throw error;
        await backoff(tries);
      }
    }
  });
}

function isSameVersion(one: DocumentSnapshot, other: DocumentSnapshot): boolean {
  return one.updateTime && other.updateTime ? one.updateTime.isEqual(other.updateTime) : one.exists === other.exists;
}
