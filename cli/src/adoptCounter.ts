/**
 * Adopts one counter that was made by hand, and ends that. Each is one atomic batch, which changes no `count`: so it may be made at any time,
 * and again.
 */
import { type DocumentReference, FieldValue, type WriteBatch } from "firebase-admin/firestore";
import { type CounterRef, counterDoc } from "../../admin/src/internal.ts";
import { BASE_SHARD, CounterError, isPreconditionFailure, SHARDS } from "../../core/src/index.ts";
import { retry } from "../../firestore/src/index.ts";
import { type AdoptionPlan, planAdoption, type StoredCounter, whyNotEnded, writesOf } from "./adoptionPlan.ts";

/** What is done, in how many writes; or why the counter is left alone. */
export type AdoptionResult = { readonly writes: number } & (
  | (AdoptionPlan & { readonly leftAlone?: never })
  | { readonly ended: boolean; readonly leftAlone?: never }
  | { readonly leftAlone: string }
);

/** How often a shard may be created or folded between the reading and the commit. */
const RETRIES = 20;

/** Cost: 1 read and 1 per shard, and the writes of the plan; again if a shard was created or deleted in between. */
export async function adoptCounter(ref: CounterRef, dryRun = false): Promise<AdoptionResult> {
  const document = counterDoc(ref);
  const shards = document.collection(SHARDS);
  return await retry(async () => {
    for (let tries = 0; ; tries++) {
      const plan = planAdoption(await readStored(document));
      if ("leftAlone" in plan) return { ...plan, writes: 0 };
      const writes = writesOf(plan);
      if (dryRun || writes === 0) return { ...plan, writes };
      const batch = ref.firestore.batch();
      // Each adds 0, since others may write them at the same time.
      const none = FieldValue.increment(0);
      if (plan.setsNumShards) batch.set(document, { num_shards: plan.numShards }, { merge: true });
      for (const id of plan.completed) batch.update(shards.doc(id), { shard: id, count: none, writes: none });
      for (const shard of plan.created) batch.create(shards.doc(shard), { shard, count: 0, writes: 0 });
      if (plan.publishes) triggerMeasurement(batch, shards.doc(BASE_SHARD));
      try {
        await batch.commit();
        return { ...plan, writes };
      } catch (error) {
        if (!isPreconditionFailure(error)) throw error;
        if (tries === RETRIES)
          throw new CounterError(
            "counter/contention",
            `the shards of "${ref.id}" are created or deleted all the time; try again later`,
          );
      }
    }
  });
}

/** Cost: 1 read and 1 per shard, and 2 writes if the counter was adopted. */
export async function endAdoption(ref: CounterRef, dryRun = false): Promise<AdoptionResult> {
  const document = counterDoc(ref);
  return await retry(async () => {
    const stored = await readStored(document);
    if (stored.fields.num_shards === undefined) return { ended: false, writes: 0 };
    const leftAlone = whyNotEnded(stored);
    if (leftAlone !== undefined) return { leftAlone, writes: 0 };
    if (dryRun) return { ended: true, writes: 2 };
    const batch = ref.firestore.batch();
    batch.update(document, { num_shards: FieldValue.delete() });
    // The counter may be idle. Its shards are silent from now on, so it must be polled until they are folded.
    triggerMeasurement(batch, document.collection(SHARDS).doc(BASE_SHARD));
    await batch.commit();
    return { ended: true, writes: 2 };
  });
}

async function readStored(document: DocumentReference): Promise<StoredCounter> {
  const [stored, shards] = await Promise.all([document.get(), document.collection(SHARDS).get()]);
  return { fields: stored.data() ?? {}, shards: new Map(shards.docs.map((shard) => [shard.id, shard.data()])) };
}

/** Writes `base`, whose event makes the functions measure and publish the counter. */
function triggerMeasurement(batch: WriteBatch, base: DocumentReference): void {
  const counted = { count: FieldValue.increment(0), writes: FieldValue.increment(1) };
  batch.set(base, { shard: BASE_SHARD, ...counted, at: FieldValue.serverTimestamp() }, { merge: true });
}
