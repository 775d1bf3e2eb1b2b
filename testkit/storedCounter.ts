/** What the database holds of a counter, read past the rules. */
import type { CounterDocument } from "../core/src/index.ts";
import { admin } from "./clients.ts";

/** The published counter document, past the rules. */
export async function readPublished(id: string): Promise<CounterDocument<FirebaseFirestore.Timestamp> | undefined> {
  return (await admin.doc(`counters/${id}`).get()).data() as CounterDocument<FirebaseFirestore.Timestamp> | undefined;
}

/** The sum of the shards, past the rules and whatever the backend says. */
export async function sumOfShards(id: string): Promise<number> {
  const shards = await admin.collection(`counters/${id}/shards`).get();
  return shards.docs.reduce((sum, shard) => sum + (shard.get("count") ?? 0), 0);
}
