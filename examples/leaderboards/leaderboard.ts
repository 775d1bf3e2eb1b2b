/**
 * The best of a group, and the rank of one: of all time, of today, of this week, of this month. The last three need
 * `npx firestore-tally init --windows score`.
 */
import { type CounterWindowName, counter, getCounterRank, getTopCounters } from "firestore-tally";
import { db } from "../setup/firebase.ts";

export async function leaders(limit: number) {
  const top = await getTopCounters(db, "score", { limit });
  return top.map(({ id, total }) => ({ user: id.slice("score:".length), total }));
}

/** 1 for the best, the same for equals; `undefined` without a published score. */
export async function rankOf(user: string) {
  return await getCounterRank(counter(db, `score:${user}`));
}

/** The users who scored most today, this week or this month. Users without a score in it are left out. */
export async function leadersOf(window: CounterWindowName, limit: number) {
  const top = await getTopCounters(db, "score", { window, limit });
  return top.map(({ id, windows }) => ({ user: id.slice("score:".length), points: windows[window] }));
}

/** `undefined` for a user who has not scored in it. */
export async function rankIn(window: CounterWindowName, user: string) {
  return await getCounterRank(counter(db, `score:${user}`), { window });
}
