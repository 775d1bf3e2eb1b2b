/** What users search for: a server sends each search, and reads the most frequent ones. */
import { counter, getTopItems } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

/** The address of the function, as the Firebase CLI prints it. */
const { INGEST_URL = "" } = process.env;

/** Counts a search once, however often it is sent. */
export async function countSearch(term: string, id: string) {
  const batch = { id, events: [{ counter: "searches", item: term }] };
  const response = await fetch(INGEST_URL, { method: "POST", body: JSON.stringify(batch) });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
}

/** The ten most frequent terms, with how often each was searched for. */
export async function trends() {
  const { items } = await getTopItems(counter(db, "searches"));
  return items.map(({ item, count }) => `${item}: ${count}`);
}
