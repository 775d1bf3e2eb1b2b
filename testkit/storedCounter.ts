/** What the database holds of a counter. The rules do not apply. */
import { setTimeout as sleep } from "node:timers/promises";
import type { CounterDocument } from "../core/src/index.ts";
import { admin } from "./clients.ts";

/** The counter document, which the functions publish. */
export async function readPublished(id: string): Promise<CounterDocument<FirebaseFirestore.Timestamp> | undefined> {
  return (await admin.doc(`counters/${id}`).get()).data() as CounterDocument<FirebaseFirestore.Timestamp> | undefined;
}

/** How long the emulator's queries may miss a commit on a busy machine: they have missed those of the last 17 ms on a calm one. */
const QUERY_LAG = 100;

/** The shards, by id, with every commit that was answered before the call. */
export async function readShards(id: string): Promise<Map<string, FirebaseFirestore.DocumentData>> {
  await sleep(QUERY_LAG);
  const { docs } = await admin.collection(`counters/${id}/shards`).get();
  return new Map(docs.map((shard) => [shard.id, shard.data()]));
}

/** What all increments sum up to, those on shards and those in the counter document: the exact total, whatever is published. */
export async function sumOfIncrements(id: string): Promise<number> {
  const shards = await readShards(id);
  const direct: number = (await admin.doc(`counters/${id}`).get()).get("direct.count") ?? 0;
  return [...shards.values()].reduce((sum, { count = 0 }) => sum + count, direct);
}
