/**
 * Measures the polled counters whose poll is more than a minute late, and reconciles the counters that are due. Both run side
 * by side, so that neither delays the other. Without either, a sweep costs 2 reads.
 */
import { FieldPath, type Query, type QueryDocumentSnapshot, type QuerySnapshot } from "firebase-admin/firestore";
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

/** Each finds out more of a random place among the counters, for 2 reads. */
const START_ROUNDS = 3;

const ALPHANUMERIC = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export async function runSweep(backend: Backend): Promise<void> {
  const results = await Promise.allSettled([reconcileDue(backend), repairLostPolls(backend)]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/**
 * Cost: 1 read per polled counter, at least 1 and with 20 or more 26 more, and an aggregation of each whose poll was lost.
 * Where there are many, it starts at a random place. So if some counters take up all the time, the others are not always left out.
 */
async function repairLostPolls(backend: Backend): Promise<void> {
  const id = FieldPath.documentId();
  const polled = backend.counters.where("phase", "in", POLLED_PHASES).orderBy(id);
  const repairPage = ({ docs }: QuerySnapshot) => Promise.all(docs.map((counter) => repair(backend, counter)));
  const first = await polled.limit(PAGE_SIZE).get();
  if (first.size < PAGE_SIZE) return void (await repairPage(first));
  const start = await randomStart(polled, () => backend.counters.doc().id);
  for (const part of [polled.where(id, ">=", start), polled.where(id, "<", start)]) {
    const pages = part.limit(PAGE_SIZE);
    let page = await pages.get();
    for (; !page.empty; page = await pages.startAfter(page.docs.at(-1)).get()) await repairPage(page);
  }
}

/**
 * A random place among the ids of a query. Most ids begin alike, such as `likes:post`, and a random id as such would be before or
 * after all of them. So each round adds what some ids have in common and one random character.
 */
async function randomStart(query: Query, randomId: () => string): Promise<string> {
  const id = FieldPath.documentId();
  let start = randomId();
  /** How many characters of `start` ids begin with. */
  let known = 0;
  for (let round = 0; round < START_ROUNDS; round++) {
    const from = known > 0 ? query.where(id, ">=", start) : query;
    const first = (await from.limit(1).get()).docs[0]?.id;
    if (first === undefined) break;
    // The character is above those of almost all ids.
    const alike = known > 0 ? query.where(id, "<", `${[...first].slice(0, known).join("")}\uf8ff`) : query;
    const last = (await alike.limitToLast(1).get()).docs[0]?.id ?? first;
    const beginning = beginningBetween(first, last, Math.random);
    // Not the beginning as such: `.` is no id.
    start = beginning + randomId();
    known = [...beginning].length;
  }
  return start;
}

/**
 * What two ids have in common, and a random character: that of the first id, a letter or a digit between both, or that of the last.
 * Of long ids it takes the first 100 characters, because a query takes no id of more than 1,500 bytes.
 */
export function beginningBetween(first: string, last: string, random: () => number): string {
  const [low = [], high = []] = [first, last].map((id) => [...id].slice(0, 100));
  const common = low.findIndex((character, n) => character !== high[n]);
  if (common < 0) return low.join("");
  const [from = "", to = from] = [low[common], high[common]];
  const characters = [from, ...[...ALPHANUMERIC].filter((character) => from < character && character < to), to];
  return low.slice(0, common).join("") + characters[Math.floor(random() * characters.length)];
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
