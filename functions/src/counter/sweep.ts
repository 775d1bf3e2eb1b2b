/**
 * Measures the polled counters whose poll is more than a minute late. In the emulator, any other poll may be lost, too: it is scheduled
 * again, which does nothing if it still is.
 */
import { FieldPath, type QueryDocumentSnapshot, type QuerySnapshot } from "firebase-admin/firestore";
import { logger } from "firebase-functions/logger";
import { aggregate } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import { parseCounter } from "./counterDocument.ts";
import { isPollLost } from "./interval.ts";
import { logError } from "./log.ts";
import { POLLED_PHASES } from "./phase.ts";
import { randomStart } from "./randomStart.ts";
import type { Published } from "./types.ts";

/** Counters read, and measured, at the same time. */
const PAGE_SIZE = 20;

/**
 * Cost: 1 read per polled counter, at least 1 and with 20 or more up to 120 more, and an aggregation of each whose poll was lost.
 * Where there are many, it starts at a random place. So if some counters take up all the time, the others are not always left out.
 */
export async function repairLostPolls(backend: Backend): Promise<void> {
  const id = FieldPath.documentId();
  const polled = backend.counters.where("phase", "in", POLLED_PHASES).orderBy(id);
  const repairPage = ({ docs }: QuerySnapshot) => Promise.all(docs.map((counter) => repair(backend, counter)));
  const first = await polled.limit(PAGE_SIZE).get();
  if (first.size < PAGE_SIZE) return void (await repairPage(first));
  const firstFrom = async (text: string) => (await polled.where(id, ">=", text).limit(1).get()).docs[0]?.id;
  const start = await randomStart((first.docs[0] as QueryDocumentSnapshot).id, firstFrom);
  for (const part of [polled.where(id, ">=", start), polled.where(id, "<", start)]) {
    const pages = part.limit(PAGE_SIZE);
    let page = await pages.get();
    for (; !page.empty; page = await pages.startAfter(page.docs.at(-1)).get()) await repairPage(page);
  }
}

async function repair(backend: Backend, snapshot: QueryDocumentSnapshot): Promise<void> {
  const state = parseCounter(snapshot, backend.features);
  const before = state.published;
  if (!before) return;
  if (!isPollLost(before, backend.now())) return void (await repeatTask(backend, snapshot.id, before));
  try {
    const { published: after } = await aggregate(backend, state, { at: before.nextPollAt ?? 0, isPoll: true });
    const totals = { from: before.total, to: after?.total };
    logger.warn("repaired a counter whose poll was lost", { counter: snapshot.id, ...totals });
  } catch (error) {
    logError("could not poll a counter; the next sweep tries again", { counter: snapshot.id, error });
  }
}

async function repeatTask(
  { losesTasks, schedule }: Backend,
  counterId: string,
  { nextPollAt }: Published,
): Promise<void> {
  if (losesTasks && nextPollAt !== null) await schedule({ counterId, due: nextPollAt, kind: "poll" });
}
