/**
 * The server's time, as this client knows it: windows end at the server's midnight, whatever the device's clock says. The build makes
 * this a file of its own, which is loaded with the first counter that has windows.
 */
import { doc, type Firestore } from "firebase/firestore";
import { ServerClock, timePath, WINDOW_NAMES } from "../../../core/src/index.ts";
import { isHiddenOrOffline, readFromServer } from "./counter.ts";

/** The fields of a counter document that say when its windows end. */
const ENDS = ["windows", "globalWindows"].flatMap((field) => WINDOW_NAMES.map((window) => `${field}.${window}.until`));

/** Later than any server's time: the last second of the year 9999. */
const NEVER_MS = 253_402_300_799_000;

/** What one Firestore instance has told of the server's time. */
interface Known {
  readonly clock: ServerClock;
  /** The question that has no answer yet. */
  asking?: Promise<void> | undefined;
  /** Whether the rules say the same at all times: they let clients read everything, or lack the match. */
  isTimeless?: boolean;
}

const knownOf = new WeakMap<Firestore, Known>();

interface Document {
  get(field: string): unknown;
}

/**
 * The server's time, certain as far as it decides which windows of these counter documents are over: where no server time has told,
 * it asks the server. If that is not possible, the device's clock decides. Never rejects.
 *
 * Cost: mostly one question, once for all counters: no read, because the rules refuse it. After the end of a window, or if the
 * device's clock is wrong, some more; 1 read for each instant that is past.
 *
 * @param path - of one of the counters
 * @returns milliseconds since the epoch
 */
export async function serverNow(firestore: Firestore, path: string, documents: readonly Document[]): Promise<number> {
  const known = knownOf.get(firestore) ?? { clock: new ServerClock() };
  knownOf.set(firestore, known);
  const { clock } = known;
  // A question would wait until the device is online.
  if (isHiddenOrOffline()) return clock._now();
  for (const document of documents) clock._isAtLeast(millisOf(document.get("asOf")));
  const ends = documents.flatMap((document) => ENDS.map((field) => millisOf(document.get(field))));
  try {
    for (let at = clock._questionAbout(ends); at !== undefined && !known.isTimeless; at = clock._questionAbout(ends)) {
      known.asking ??= ask(firestore, path, at, known).finally(() => {
        known.asking = undefined;
      });
      await known.asking;
    }
  } catch {}
  return clock._now();
}

/** @throws FirestoreError if the server cannot be reached */
async function ask(firestore: Firestore, path: string, instant: number, known: Known): Promise<void> {
  const isPast = async (at: number) => !!(await readFromServer(doc(firestore, timePath(path, at)), 1));
  const shown = performance.now();
  const answer = await isPast(instant);
  // An answer that contradicts the device's clock, or that is given for the sake of all documents, is tried once more.
  if (answer ? await isPast(NEVER_MS) : Date.now() > instant && !(await isPast(0))) known.isTimeless = true;
  else if (answer) known.clock._isAtLeast(instant);
  else known.clock._wasBefore(instant, shown);
}

/** NaN if there is none: no comparison with it is true. */
function millisOf(time: unknown): number {
  return Number((time as { seconds?: number } | null | undefined)?.seconds) * 1_000;
}
