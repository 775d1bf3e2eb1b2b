/** A game's score: many increments per second from one user, written as sums. */
import { bufferedCounter, counter } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

export async function startGame() {
  const score = bufferedCounter(counter(db, `score:${await userId()}`), { flushInterval: 2_000, maxPending: 100 });
  return {
    /** Whole points, at most 100 at a time. No I/O. */
    hit: (points: number) => score.increment(points),
    /** Resolves once everything is written. */
    end: () => score.close(),
  };
}
