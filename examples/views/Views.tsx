/** The views of a page in React: each mount counts one. */
import { counter } from "firestore-tally";
import { useCounter } from "firestore-tally/react";
import { useEffect, useRef } from "react";
import { db } from "../setup/firebase.ts";
import { countView } from "./views.ts";

export function Views({ page }: { page: string }) {
  // StrictMode runs an effect twice. The ref stays.
  const counted = useRef("");
  useEffect(() => {
    if (counted.current === page) return;
    counted.current = page;
    countView(page).catch(console.error);
  }, [page]);
  const { total } = useCounter(counter(db, `views:${page}`));
  return <span>{total ?? "…"} views</span>;
}
