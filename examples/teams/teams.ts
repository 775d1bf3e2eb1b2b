/** Tasks that a team has finished: only its members count and see them. */
import { counter, incrementCounter, onCounter } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";

const tasksOf = (team: string) => counter(db, `tasks:${team}`);

export async function finishTask(team: string) {
  await userId();
  await incrementCounter(tasksOf(team));
}

/** Returns a function that stops. `denied` is called for users who are no members. */
export function watchTasks(team: string, show: (finished: number) => void, denied: (error: Error) => void) {
  return onCounter(tasksOf(team), { next: ({ total }) => show(total), error: denied });
}
