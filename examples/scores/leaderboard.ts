/** The best scores, and the rank of one. */
import { counter, counterRank, topCounters } from "firestore-tally";
import { db } from "../setup/firebase.ts";

export async function leaders(limit: number) {
  const top = await topCounters(db, "score", { limit });
  return top.map(({ id, total }) => ({ user: id.slice("score:".length), total }));
}

/** 1 for the best, the same for equals; `undefined` without a published score. */
export async function rankOf(user: string) {
  return await counterRank(counter(db, `score:${user}`));
}
