/** Once per user and day: each day has a counter, in which each user counts once. */
import { counter, getCounters, incrementCounter } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

/** The number of the day since 1970, in UTC. */
const today = () => Math.floor(Date.now() / 86_400_000);

const checkIns = (day: number) => counter(db, `checkIns:${day}`);

export async function checkIn() {
  const once = await userId();
  await incrementCounter(checkIns(today()), 1, { once });
}

/** How many users came on each of the last seven days, today first. 7 reads. */
export async function lastWeek() {
  const days = Array.from({ length: 7 }, (_, ago) => today() - ago);
  const counters = await getCounters(days.map(checkIns));
  return counters.map(({ total }) => total);
}
