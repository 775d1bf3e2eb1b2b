/** Measures the polled counters whose poll is more than a minute late. */
import { FieldPath, type Query, type QueryDocumentSnapshot, type QuerySnapshot } from "firebase-admin/firestore";
import { logger } from "firebase-functions";
import { aggregate } from "./aggregate.ts";
import type { Backend } from "./backend.ts";
import { parseCounter } from "./counterDocument.ts";
import { isPollLost } from "./interval.ts";
import { logError } from "./log.ts";
import { POLLED_PHASES } from "./phase.ts";

/** Counters read, and measured, at the same time. */
const PAGE_SIZE = 20;

/** What the search for a random place among the counters may cost. */
const MAX_START_READS = 100;

const ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

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
  const start = await randomStart(polled, (first.docs[0] as QueryDocumentSnapshot).id);
  for (const part of [polled.where(id, ">=", start), polled.where(id, "<", start)]) {
    const pages = part.limit(PAGE_SIZE);
    let page = await pages.get();
    for (; !page.empty; page = await pages.startAfter(page.docs.at(-1)).get()) await repairPage(page);
  }
}

/**
 * A random place among the ids of a query. Most ids begin alike, such as `likes:post`, and a random id as such would be before or
 * after all of them. So it is found character by character: each is the first one at or after a random letter or digit. What all ids
 * have in common may be up to some 60 characters. Only in ascending order, because the other one would need an index.
 */
async function randomStart(query: Query, first: string): Promise<string> {
  let start = first;
  /** How many characters of `start` are found. */
  let found = 0;
  let choices = ALPHANUMERIC.length;
  for (let reads = 0; reads < MAX_START_READS && found <= [...start].length; reads++) {
    const beginning = [...start].slice(0, found).join("");
    const choice = Math.floor(Math.random() * choices);
    const from = query.where(FieldPath.documentId(), ">=", beginning + ALPHANUMERIC[choice]);
    const next = (await from.limit(1).get()).docs[0]?.id;
    const isThere = next?.startsWith(beginning);
    if (isThere) start = next as string;
    // Otherwise all ids that begin so come before it.
    const isFound = isThere || choice === 0;
    if (isFound) found++;
    choices = isFound ? ALPHANUMERIC.length : choice;
  }
  return start;
}

async function repair(backend: Backend, snapshot: QueryDocumentSnapshot): Promise<void> {
  const state = parseCounter(snapshot, backend.features);
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
