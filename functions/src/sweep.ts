/**
 * Measures the polled counters whose poll is more than a minute late, and reconciles the counters that are due. Both run side
 * by side, so that neither delays the other. Without either, a sweep costs 2 reads.
 */
import { FieldPath, type QueryDocumentSnapshot, type QuerySnapshot } from "firebase-admin/firestore";
import { logger } from "firebase-functions";
import { aggregate } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import { parseCounter } from "./counterDocument.ts";
import { isPollLost } from "./interval.ts";
import { logError } from "./log.ts";
import { POLLED_PHASES } from "./phase.ts";
import { reconcileDue } from "./reconcile.ts";

/** Counters read, and measured, at the same time. */
const PAGE_SIZE = 20;

export async function runSweep(backend: Backend): Promise<void> {
  const results = await Promise.allSettled([reconcileDue(backend), repairLostPolls(backend)]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/**
 * Cost: 1 read per polled counter, at least 1 and with 20 or more some 20 more, and an aggregation of each whose poll was lost.
 * Where there are many, it starts at a random id. So if some counters take up all the time, the others are not always left out.
 */
async function repairLostPolls(backend: Backend): Promise<void> {
  const id = FieldPath.documentId();
  const polled = backend.counters.where("phase", "in", POLLED_PHASES).orderBy(id);
  const repairPage = ({ docs }: QuerySnapshot) => Promise.all(docs.map((counter) => repair(backend, counter)));
  const first = await polled.limit(PAGE_SIZE).get();
  if (first.size < PAGE_SIZE) return void (await repairPage(first));
  const randomId = () => backend.counters.doc().id;
  const { docs } = await polled.where(id, ">=", randomId()).limit(1).get();
  const start = startNear((docs[0] ?? first.docs[0])?.id ?? "", Math.random, randomId());
  for (const part of [polled.where(id, ">=", start), polled.where(id, "<", start)]) {
    const pages = part.limit(PAGE_SIZE);
    let page = await pages.get();
    for (; !page.empty; page = await pages.startAfter(page.docs.at(-1)).get()) await repairPage(page);
  }
}

/**
 * A random id that begins as another one does, in part. Ids often have the same beginning, such as `likes:post`, and a random id as
 * such would be before or after all of them.
 */
export function startNear(counterId: string, random: () => number, randomId: string): string {
  return counterId.slice(0, Math.floor(random() * (counterId.length + 1))) + randomId;
}

async function repair(backend: Backend, snapshot: QueryDocumentSnapshot): Promise<void> {
  const state = parseCounter(snapshot);
  const before = state.published;
  if (!before || !isPollLost(before, backend.now())) return;
  try {
    const { published: after } = await aggregate(backend, state, { at: before.nextPollAt ?? 0, isPoll: true });
    const totals = { from: before.total, to: after?.total };
    logger.warn("repaired a counter whose poll was lost", { counter: snapshot.id, ...totals });
  } catch (error) {
    logError("could not poll a counter; the next sweep tries again", { counter: snapshot.id, error });
  }
}
