/** A game's score: many increments per second from one user, written as sums. */
import { bufferedCounter, counter } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

export async function startGame() {
  const own = counter(db, `score:${await userId()}`);
  const options = { flushInterval: 2_000, maxPending: 100 };
  const score = bufferedCounter(own, options);
  return {
    /** Whole points, at most 100 at a time. No I/O. */
    hit: (points: number) => score.increment(points),
    /** Resolves once everything is written. */
    end: () => score.close(),
  };
}
