/** What this client knows of each counter, shared by all references to it, and how it learns more. */
import { doc, type Firestore, getDoc } from "firebase/firestore";
import { counterPath } from "../../core/src/index.ts";
import type { CounterRef } from "./counter.ts";
import { Spread } from "./spread.ts";

/** How long a first increment waits to learn the shard count before it goes ahead without. */
const FIRST_READ_PATIENCE_MS = 1_000;

interface Knowledge {
  readonly spread: Spread;
  /** The read under way, if any: at most one per counter at a time. */
  reading?: Promise<void>;
  /** What the first increments wait for, all of them together, once. */
  first?: Promise<void>;
}

const knowledgeOf = new WeakMap<Firestore, Map<string, Knowledge>>();

function knowledge(ref: CounterRef): Knowledge {
  let counters = knowledgeOf.get(ref.firestore);
  if (!counters) {
    counters = new Map();
    knowledgeOf.set(ref.firestore, counters);
  }
  const path = counterPath(ref.collection, ref.id);
  let known = counters.get(path);
  if (!known) {
    known = { spread: new Spread(Math.random) };
    counters.set(path, known);
  }
  return known;
}

/** What is known of a counter now. No I/O. */
export function spreadOf(ref: CounterRef): Spread {
  return knowledge(ref).spread;
}

/**
 * The spread for an increment about to be written. The first increments of a counter wait for one read, but not when
 * the device is offline and never for long; later ones use what is known and refresh it in the background.
 */
export async function spreadForWrite(ref: CounterRef): Promise<Spread> {
  const known = knowledge(ref);
  if (known.spread.isStale(Date.now())) {
    const reading = refreshSpread(ref);
    known.first ??= isOffline() ? Promise.resolve() : Promise.race([reading, patience()]);
  }
  await known.first;
  return known.spread;
}

/** Reads the counter document once and learns its shard count. Never rejects: not knowing is safe. Cost: 1 read. */
export function refreshSpread(ref: CounterRef): Promise<void> {
  const known = knowledge(ref);
  known.reading ??= read(ref, known.spread).finally(() => {
    delete known.reading;
  });
  return known.reading;
}

async function read(ref: CounterRef, spread: Spread): Promise<void> {
  try {
    const snapshot = await getDoc(doc(ref.firestore, counterPath(ref.collection, ref.id)));
    spread.learn(snapshot.get("shardCount"), Date.now());
  } catch {
    spread.triedInVain(Date.now());
  }
}

function isOffline(): boolean {
  return typeof navigator !== "undefined" && navigator.onLine === false;
}

function patience(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, FIRST_READ_PATIENCE_MS));
}
