/** Sees every total that is published from now on, past all faults, and says what is wrong with their order. */
import { setTimeout as sleep } from "node:timers/promises";
import { type QuerySnapshot, Timestamp } from "firebase-admin/firestore";
import { toMillis } from "../../functions/src/time.ts";
import { admin } from "../../testkit/clients.ts";

/** One published state, as it was seen. */
interface Sighting {
  readonly asOf: number;
  readonly writes: number;
  readonly total: number;
}

export interface Witness {
  /** Everything that contradicts I1 (one total for an instant), I3 (forward only) or I4 (calm). */
  objections(): string[];
  stop(): Promise<void>;
}

/** The shortest time between two publishes, by default. */
const MIN_INTERVAL_MS = 1_000;

/**
 * Both listens and reads: under load the emulator's watches miss a change now and then, and reads miss what comes
 * between them.
 */
export function startWitness(): Witness {
  const states = new Map<string, Map<number, Sighting>>();
  const objections: string[] = [];
  let stopped = false;

  const observer = () => {
    const last = new Map<string, Sighting>();
    return (snapshot: QuerySnapshot) => {
      for (const { id, data } of snapshot.docs.map((doc) => ({ id: doc.id, data: doc.data() }))) {
        const now = { asOf: toMillis(data.asOf), writes: data.writes, total: data.total };
        const before = last.get(id);
        if (before && (now.asOf < before.asOf || now.writes < before.writes)) {
          objections.push(`I3: ${id} went back from ${JSON.stringify(before)} to ${JSON.stringify(now)}`);
        }
        const same = states.get(id)?.get(now.asOf);
        if (same && same.total !== now.total) objections.push(`I1: ${id} had two totals for ${now.asOf}`);
        last.set(id, now);
        states.set(id, (states.get(id) ?? new Map()).set(now.asOf, now));
      }
    };
  };
  const counters = admin.collection("counters").where("asOf", ">", Timestamp.now());
  const unsubscribe = counters.onSnapshot(observer());
  const reading = read(observer());
  return {
    objections: () => [...objections, ...[...states].flatMap(([id, of]) => tooSoon(id, of))],
    async stop() {
      stopped = true;
      unsubscribe();
      await reading;
    },
  };

  async function read(observe: (snapshot: QuerySnapshot) => void): Promise<void> {
    while (!stopped) {
      observe(await counters.get());
      await sleep(100);
    }
  }
}

function tooSoon(id: string, of: ReadonlyMap<number, Sighting>): string[] {
  const asOf = [...of.keys()].sort((a, b) => a - b);
  return asOf.flatMap((at, i) => {
    const gap = at - (asOf[i - 1] ?? Number.NEGATIVE_INFINITY);
    return gap < MIN_INTERVAL_MS ? [`I4: ${id} was published twice within ${gap} ms`] : [];
  });
}
