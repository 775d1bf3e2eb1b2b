/** Unique visitors: views and different people beside each other. */
import { counter, countVisitor, incrementCounter, onCounter } from "firestore-tally";
import { db, userId } from "../setup/firebase.ts";
import { shown } from "../views/shown.ts";

/** Call it when a page opens: every call counts as a view, every user as one visitor. */
export async function countVisit(page: string) {
  await shown();
  const views = counter(db, `views:${page}`);
  // First: the SDK holds a queued write back until the user who made it is signed in again.
  const uid = await userId();
  await Promise.all([incrementCounter(views), countVisitor(views, uid)]);
}

export function showVisits(page: string, label: { textContent: string | null }) {
  return onCounter(counter(db, `views:${page}`), ({ total, uniques }) => {
    label.textContent = `${total} views by ${uniques} people`;
  });
}
