/** Votes: up or down, once per user. */

import { doc, getDoc } from "firebase/firestore";
import { counter, incrementCounter, undoIncrement } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

export async function vote(id: string, by: 1 | -1) {
  const before = await myVote(id);
  if (before === by) return;
  if (before !== 0) await withdrawVote(id);
  await incrementCounter(counter(db, `votes:${id}`), by, { once: await userId() });
}

export async function withdrawVote(id: string) {
  await undoIncrement(counter(db, `votes:${id}`), await userId());
}

/** 1, -1, or 0 for none. */
export async function myVote(id: string): Promise<number> {
  const entry = await getDoc(doc(db, counter(db, `votes:${id}`).path, "tallyEntries", await userId()));
  return entry.get("by") ?? 0;
}
