/** Counters with a collection as their source of truth. */
import type { Firestore } from "firebase-admin/firestore";
import { counter } from "firestore-tally/admin";
import { admin } from "../../testkit/clients.ts";

/** Part of all names, since the database may hold documents of earlier runs. */
export const run = Date.now().toString(36);
let created = 0;

/** A new counter, and the path of a collection to be its source. */
export function newCounter(name: string, firestore: Firestore = admin) {
  const id = `reconcile:${name}-${run}-${created++}`;
  return { id, ref: counter(firestore, id), source: `${id}-source` };
}

/** The recorded corrections of a counter, oldest first. */
export async function correctionsOf(id: string): Promise<FirebaseFirestore.DocumentData[]> {
  const { docs } = await admin.collection(`counters/${id}/tallyCorrections`).orderBy("at").get();
  return docs.map((correction) => correction.data());
}
