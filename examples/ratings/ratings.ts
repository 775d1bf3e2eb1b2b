/** Ratings: an average is two counters, the sum of the stars and the number of ratings. */

import { writeBatch } from "firebase/firestore";
import { counter, getCounter, getIncremented, incrementCounterIn, undoIncrement } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

const sumOf = (item: string) => counter(db, `ratingSum:${item}`);
const countOf = (item: string) => counter(db, `ratingCount:${item}`);

/** Rates from 1 to 5. A second rating by the same user changes nothing. */
export async function rate(item: string, stars: number) {
  const once = await userId();
  const batch = writeBatch(db);
  incrementCounterIn(batch, sumOf(item), stars, { once });
  incrementCounterIn(batch, countOf(item), 1, { once });
  try {
    await batch.commit();
  } catch (error) {
    // Refused because this user has rated, by an earlier call or by a first copy of this batch?
    const rated = await getIncremented(countOf(item), once).catch(() => false);
    if (!rated) throw error;
  }
}

/** Takes the rating back. If it fails, call it again before you rate. */
export async function unrate(item: string) {
  const once = await userId();
  await Promise.all([undoIncrement(sumOf(item), once), undoIncrement(countOf(item), once)]);
}

/** `undefined` without a rating. */
export async function averageOf(item: string): Promise<number | undefined> {
  const [sum, count] = await Promise.all([getCounter(sumOf(item)), getCounter(countOf(item))]);
  return count.total > 0 ? sum.total / count.total : undefined;
}
