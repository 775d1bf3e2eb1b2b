/**
 * What Tally's client adds to a write: its increments against the same merge made by hand, through the same SDK, under the
 * same rules. Both take turns, so that other load on the machine affects them alike, and the ratio is that of pairs of turns.
 *
 * The concurrent writes of a turn go to different counters. On one document they would contend, and its marks, which the rules
 * compare on each write, would grow to thousands: the comparison would measure that, and take minutes.
 */
import { arrayUnion, Bytes, doc, type Firestore, increment, serverTimestamp, setDoc } from "firebase/firestore";
import { counter, incrementCounter, onCounter } from "firestore-tally";
import { client } from "../testkit/clients.ts";
import { loadRules, OPEN_RULES } from "../testkit/rules.ts";
import { percentile } from "../testkit/statistics.ts";

export interface Overhead {
  readonly isWatched: boolean;
  /** Writes per second. */
  readonly tally: number;
  readonly byHand: number;
  /** Tally's throughput to the other: the median of all pairs. */
  readonly ratio: number;
}

/** Pairs of turns, the first of which only warm up; and concurrent writes of a turn. */
const PAIRS = 80;
const WARM_UP = 20;
const WRITES = 20;

/** A project without functions, so that none runs meanwhile. */
const PROJECT = "demo-overhead";

/** @param progress  called with how far it is */
export async function measureOverhead(firestore: string, progress: (text: string) => void): Promise<Overhead[]> {
  await loadRules(PROJECT, OPEN_RULES);
  return [await compare(firestore, false, progress), await compare(firestore, true, progress)];
}

async function compare(firestore: string, isWatched: boolean, progress: (text: string) => void): Promise<Overhead> {
  const [tally, other] = [client(firestore, PROJECT), client(firestore, PROJECT)];
  const state = isWatched ? "watched" : "not watched";
  const counters = Array.from({ length: WRITES }, (_, n) => counter(tally.db, `tally ${state} ${n}`));
  const unwatch = isWatched ? counters.map((one) => onCounter(one, () => undefined)) : [];
  const turns = {
    tally: () => counters.map((one) => incrementCounter(one)),
    byHand: () => counters.map((_, n) => writeByHand(other.db, `by hand ${state} ${n}`)),
  };
  const took = { tally: [] as number[], byHand: [] as number[] };
  for (let pair = 0; pair < PAIRS; pair++) {
    if (pair % 20 === 0) progress(`${state}, ${pair} of ${PAIRS} pairs`);
    const order = ["tally", "byHand"] as const;
    for (const name of pair % 2 ? order : order.toReversed()) {
      const start = performance.now();
      await Promise.all(turns[name]());
      if (pair >= WARM_UP) took[name].push(performance.now() - start);
    }
  }
  for (const stop of unwatch) stop();
  await Promise.all([tally.close(), other.close()]);
  const perSecond = (durations: readonly number[]) => (WRITES * 1_000) / percentile(durations, 0.5);
  const ratios = took.byHand.map((one, pair) => one / (took.tally[pair] as number));
  return { isWatched, tally: perSecond(took.tally), byHand: perSecond(took.byHand), ratio: percentile(ratios, 0.5) };
}

/** The merge that the rules accept: see docs/data-model.md. */
function writeByHand(db: Firestore, id: string): Promise<void> {
  const at = serverTimestamp();
  const nonces = arrayUnion(Bytes.fromUint8Array(crypto.getRandomValues(new Uint8Array(5))));
  const marks = { [Math.floor(Date.now() / 61_000) % 5]: { at, nonces } };
  const shard = doc(db, `counters/${id}/shards/0`);
  return setDoc(shard, { shard: "0", count: increment(1), writes: increment(1), at, marks }, { merge: true });
}
