/** Prepares a counter for a crowd that comes at once. */
import { counter, ensureCounter } from "firestore-tally/admin";
import { db } from "../setup/server.ts";

/** 50 shards take some 50 writes a second, for an hour. */
export async function prepareForCrowd(id: string) {
  await ensureCounter(counter(db, id), { shards: 50 });
}
