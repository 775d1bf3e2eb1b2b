/** Page views: every call counts. */
import { counter, incrementCounter, onCounter } from "firestore-tally";
import { db } from "../setup/firebase.ts";
import { shown } from "./shown.ts";

/** Call it when a page opens. */
export async function countView(page: string) {
  await shown();
  await incrementCounter(counter(db, `views:${page}`));
}

export function showViews(page: string, label: { textContent: string | null }) {
  return onCounter(counter(db, `views:${page}`), ({ total }) => {
    label.textContent = `${total} views`;
  });
}
