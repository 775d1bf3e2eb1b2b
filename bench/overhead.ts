/**
 * What Tally's client adds to a write: its increments against the same merge made by hand, through the same SDK, under the
 * same rules. In turns, so that whatever else the machine does hits both alike; and the ratio is of pairs of turns.
 */
import { readFileSync } from "node:fs";
import { initializeTestEnvironment } from "@firebase/rules-unit-testing";
import { arrayUnion, Bytes, doc, increment, serverTimestamp, setDoc } from "firebase/firestore";
import { counter, incrementCounter, onCounter } from "firestore-tally";
import { client } from "../testkit/clients.ts";
import { percentilesOf } from "../testkit/statistics.ts";

export interface Overhead {
  readonly name: string;
  /** Writes per second. */
  readonly tally: number;
  readonly raw: number;
  /** Of the throughputs, Tally's to the other's: the median of all pairs. */
  readonly ratio: number;
}

/** Pairs of turns, and writes under way together in each. */
const PAIRS = 100;
const WRITES = 20;
/** Pairs that only warm both up. */
const WARM_UP = 20;

/** No function watches it, so that none runs meanwhile. */
const PROJECT = "demo-overhead";

export async function measureOverhead(emulator: string): Promise<Overhead[]> {
  const [host = "", port] = emulator.split(":");
  const rules = readFileSync(new URL("../firestore.rules", import.meta.url), "utf8");
  const firestore = { host, port: Number(port), rules };
  const environment = await initializeTestEnvironment({ projectId: PROJECT, firestore });
  const results = [await compare("not watched", emulator, false), await compare("watched", emulator, true)];
  await environment.cleanup();
  return results;
}

async function compare(name: string, emulator: string, watched: boolean): Promise<Overhead> {
  const [ours, theirs] = [client(emulator, PROJECT), client(emulator, PROJECT)];
  const ref = counter(ours.db, `tally ${name}`);
  const shard = doc(theirs.db, `counters/raw ${name}/shards/0`);
  const unwatch = watched ? onCounter(ref, () => undefined) : () => undefined;
  const raw = () => {
    const at = serverTimestamp();
    const nonces = arrayUnion(Bytes.fromUint8Array(crypto.getRandomValues(new Uint8Array(4))));
    const marks = { [((Date.now() / 15_000) & 15).toString(16)]: { at, nonces } };
    return setDoc(shard, { shard: shard.id, count: increment(1), writes: increment(1), at, marks }, { merge: true });
  };
  const took = { tally: [] as number[], raw: [] as number[] };
  for (let pair = 0; pair < WARM_UP + PAIRS; pair++) {
    const turns = [["tally", () => incrementCounter(ref)] as const, ["raw", raw] as const];
    // Whoever is second might find the machine warmer.
    for (const [who, write] of pair % 2 ? turns : turns.reverse()) {
      const start = performance.now();
      await Promise.all(Array.from({ length: WRITES }, write));
      if (pair >= WARM_UP) took[who].push(performance.now() - start);
    }
  }
  unwatch();
  await Promise.all([ours.close(), theirs.close()]);
  const perSecond = (all: readonly number[]) => (WRITES * 1_000) / percentilesOf(all).p50;
  const ratios = took.raw.map((one, pair) => one / (took.tally[pair] as number));
  return { name, tally: perSecond(took.tally), raw: perSecond(took.raw), ratio: percentilesOf(ratios).p50 };
}
