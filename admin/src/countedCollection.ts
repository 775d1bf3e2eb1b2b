/** Counters that count a collection: the functions count its documents for each total, so nothing else can change it. */
import type { DocumentSnapshot } from "firebase-admin/firestore";
import { CounterError } from "../../core/src/index.ts";

/**
 * @param counter  the counter document
 * @throws CounterError `counter/counted-collection`
 */
export function refuseCountedCollection(counter: DocumentSnapshot): void {
  const collection: unknown = counter.get("countedCollection");
  if (typeof collection !== "string") return;
  throw new CounterError(
    "counter/counted-collection",
    `"${counter.id}" counts the documents of ${collection}; create or delete documents there to change its total. If it no longer does, \`npx firestore-tally publish\` it`,
  );
}
