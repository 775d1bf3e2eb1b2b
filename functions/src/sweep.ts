/**
 * Measures the polled counters whose poll was lost, because its task failed for a day, and reconciles those that are due.
 * Side by side, so that neither holds up the other. With none of either, a sweep costs 2 reads.
 */
import { randomInt } from "node:crypto";
import { FieldPath, type QueryDocumentSnapshot, type QuerySnapshot } from "firebase-admin/firestore";
import { logger } from "firebase-functions";
import { aggregate } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import type { Millis } from "./config.ts";
import { type Published, parseCounter } from "./counterDocument.ts";
import { logError } from "./log.ts";
import { POLLED } from "./phase.ts";
import { reconcileDue } from "./reconcile.ts";

/** Counters read, and measured, at the same time. */
const PAGE = 20;

/** A poll that is later than this is lost: Cloud Tasks is rarely late by a second. */
const LATE: Millis = 60_000;

/** Whether the poll that the last publish has scheduled was lost. */
export function isOverdue({ nextPollAt }: Published, now: Millis): boolean {
  return nextPollAt !== null && now > nextPollAt + LATE;
}

export async function sweep(backend: Backend): Promise<void> {
  const results = await Promise.allSettled([reconcileDue(backend), pollOverdue(backend)]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/**
 * Cost: 1 read per polled counter, at least 1, and an aggregation of each that is overdue. Where there are many, it starts at
 * a random letter, so that counters which take all of its time do not always keep it from the same others.
 */
async function pollOverdue(backend: Backend): Promise<void> {
  const id = FieldPath.documentId();
  const polled = backend.counters.where("phase", "in", POLLED).orderBy(id);
  const some = await polled.limit(PAGE).get();
  if (some.size < PAGE) return await pollPage(backend, some);
  const start = String.fromCharCode(randomInt(33, 127));
  for (const part of [polled.where(id, ">=", start), polled.where(id, "<", start)]) {
    let page = await part.limit(PAGE).get();
    for (; !page.empty; page = await part.startAfter(page.docs.at(-1)).limit(PAGE).get()) await pollPage(backend, page);
  }
}

async function pollPage(backend: Backend, { docs }: QuerySnapshot): Promise<void> {
  await Promise.all(docs.map((counter) => poll(backend, counter)));
}

async function poll(backend: Backend, snapshot: QueryDocumentSnapshot): Promise<void> {
  const state = parseCounter(snapshot);
  const before = state.published;
  if (!before || !isOverdue(before, backend.now())) return;
  try {
    const { published: after } = await aggregate(backend, state, { at: before.nextPollAt ?? 0, isPoll: true });
    logger.warn("repaired a counter whose poll was lost", {
      counter: snapshot.id,
      from: before.total,
      to: after?.total,
    });
  } catch (error) {
    logError("could not poll a counter; the next sweep tries again", { counter: snapshot.id, error });
  }
}
