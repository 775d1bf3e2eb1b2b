/** Counters with a collection as their source of truth. */
import type { Firestore } from "firebase-admin/firestore";
import { type CounterRef, counter } from "firestore-tally/admin";
import { admin } from "../../testkit/clients.ts";

/** Part of all names, since the database may hold documents of earlier runs. */
export const run = Date.now().toString(36);
let created = 0;

export interface SourcedCounter {
  readonly id: string;
  readonly ref: CounterRef;
  /** Path of the source collection. */
  readonly source: string;
}

/** A new counter, and the path of a collection to be its source. */
export function newCounter(name: string, firestore: Firestore = admin, collection = "counters"): SourcedCounter {
  const id = `reconcile:${name}-${run}-${created++}`;
  return { id, ref: counter(firestore, id, { collection }), source: `${id}-source` };
}

/** A new collection of counters, which the deployed functions do not watch. */
export function newUnwatchedCollection(): string {
  return `reconciled-${run}-${created++}`;
}

/** The recorded corrections of a counter, oldest first. */
export async function correctionsOf(id: string): Promise<FirebaseFirestore.DocumentData[]> {
  const { docs } = await admin.collection(`counters/${id}/tallyCorrections`).orderBy("at").get();
  return docs.map((correction) => correction.data());
}
