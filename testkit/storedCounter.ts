/** What the database holds of a counter. The rules do not apply. */
import type { CounterDocument } from "../core/src/index.ts";
import { admin } from "./clients.ts";

/** The counter document, which the functions publish. */
export async function readPublished(id: string): Promise<CounterDocument<FirebaseFirestore.Timestamp> | undefined> {
  return (await admin.doc(`counters/${id}`).get()).data() as CounterDocument<FirebaseFirestore.Timestamp> | undefined;
}

/** The shards, by id. */
export async function readShards(id: string): Promise<Map<string, FirebaseFirestore.DocumentData>> {
  const { docs } = await admin.collection(`counters/${id}/shards`).get();
  return new Map(docs.map((shard) => [shard.id, shard.data()]));
}

/** The sum of the shards: the exact total, whatever is published. */
export async function sumOfShards(id: string): Promise<number> {
  const shards = await admin.collection(`counters/${id}/shards`).get();
  return shards.docs.reduce((sum, shard) => sum + (shard.get("count") ?? 0), 0);
}
