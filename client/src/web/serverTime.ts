/**
 * The server's time, as this client knows it: windows end at the server's midnight, whatever the device's clock says. The build makes
 * this a file of its own, which is loaded with the first counter that has windows.
 */
import { doc, type Firestore } from "firebase/firestore";
import { LOOKUP_ATTEMPTS, ServerClock, timePath } from "../../../core/src/index.ts";
import { readFromServer } from "./counter.ts";

/** The fields of a counter document that say when its windows end. */
const ENDS = ["windows", "globalWindows"].flatMap((field) =>
  ["day", "week", "month"].map((window) => `${field}.${window}.until`),
);

/** Later than any server's time: the last second of the year 9999. */
const NEVER_MS = 253_402_300_799_000;

/** What one Firestore instance has told of the server's time. */
interface Known {
  readonly clock: ServerClock;
  /** Instant → the question to the server whether it is past. */
  readonly asked: Map<number, Promise<void>>;
}

const knownOf = new WeakMap<Firestore, Known>();

interface Document {
  get(field: string): unknown;
}

/**
 * The server's time, certain as far as it decides which windows of these counter documents are over: where no server time has told,
 * it asks the server. If that is not possible, the device's clock decides. Never rejects.
 *
 * Cost: for an instant that is not past no read, because the rules refuse it; for one that is, 1 read. The answer holds for all counters.
 *
 * @param path - of one of the counters
 * @returns milliseconds since the epoch
 */
export async function serverNow(firestore: Firestore, path: string, documents: readonly Document[]): Promise<number> {
  const known = knownOf.get(firestore) ?? { clock: new ServerClock(), asked: new Map() };
  knownOf.set(firestore, known);
  const { clock, asked } = known;
  for (const document of documents) clock._isAtLeast(millisOf(document.get("asOf")));
  const ends = [...new Set(documents.flatMap((document) => ENDS.map((field) => millisOf(document.get(field)))))];
  for (;;) {
    const unsure = ends.filter((end) => clock._isUnsure(end)).sort((a, b) => a - b);
    // The answer to the one in the middle is the answer to all on one side of it.
    const end = unsure[unsure.length >> 1];
    if (end === undefined) return clock._now();
    try {
      const answer = asked.get(end) ?? ask(firestore, path, end, clock).finally(() => asked.delete(end));
      asked.set(end, answer);
      await answer;
    } catch {
      return clock._now();
    }
  }
}

/** @throws if the server cannot be reached, or its rules let everybody read everything */
async function ask(firestore: Firestore, path: string, instant: number, clock: ServerClock): Promise<void> {
  const isPast = async (at: number) => !!(await readFromServer(doc(firestore, timePath(path, at)), LOOKUP_ATTEMPTS));
  const shown = performance.now();
  if (!(await isPast(instant))) return clock._wasAtMost(instant, shown);
  if (await isPast(NEVER_MS)) throw new Error("the rules say yes to each question for the time");
  clock._isAtLeast(instant);
}

/** NaN if there is none: no comparison with it is true. */
function millisOf(time: unknown): number {
  return Number((time as { seconds?: number } | null | undefined)?.seconds) * 1_000;
}
