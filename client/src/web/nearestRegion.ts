/** Which of several regions a client uses: the nearest, which is the one that answered first, or another while that one does not answer. */
import { doc, type Firestore } from "firebase/firestore";
import { setBackgroundTimer } from "../../../core/src/index.ts";
import { isHiddenOrOffline, readFromServer } from "./counter.ts";

/** After this time in another region, the nearest is looked for again. */
const RETURN_AFTER_MS = 60_000;

/** Which region is used. A path is that of a document to read: any, since a refusal is an answer, too. */
export interface Choice {
  _current(): string | undefined;
  /** The region to use now. Cost: 1 read per region if none is known, or a minute after the nearest did not answer. */
  _nearest(path: string): string | Promise<string>;
  /** A call waits for this region. Looks for another one each time the timeout passes. @returns a function that ends it */
  _awaitAnswer(region: string, path: string): () => void;
  /** Called when another region is used. */
  readonly _listeners: Set<() => void>;
}

/**
 * No I/O before it is asked.
 *
 * @param timeout - milliseconds that a region may take to answer before another one is used
 */
export function chooseRegion(databases: Readonly<Record<string, Firestore>>, timeout: number): Choice {
  const names = Object.keys(databases);
  const [first = ""] = names;
  let current: string | undefined;
  /** The one that answered first of all, to return to. */
  let home: string | undefined;
  let looking: Promise<string> | undefined;
  let lookedAt = 0;
  let returning: ReturnType<typeof setTimeout> | undefined;
  const _listeners = new Set<() => void>();

  /** @param silent - a region that does not answer, although it may answer this */
  const look = (path: string, silent?: string): Promise<string> => {
    if (looking) return looking;
    lookedAt = performance.now();
    const candidates = names.filter((name) => name !== silent);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(reject, timeout);
    });
    const answers = candidates.map((name) => probe(databases[name] as Firestore, path).then(() => name));
    looking = Promise.race([Promise.any(answers), late])
      .then((nearest) => {
        const before = current;
        current = nearest;
        if (silent === undefined) home ??= nearest;
        if (before !== nearest) for (const listener of _listeners) listener();
        return nearest;
      })
      // Offline. The first region is as good as any: its increments are sent later.
      .catch(() => current ?? first)
      .finally(() => {
        looking = undefined;
        clearTimeout(timer);
        clearTimeout(returning);
        // Watches alone do not ask for the nearest again.
        if (current !== home) returning = setBackgroundTimer(() => _listeners.size > 0 && look(path), RETURN_AFTER_MS);
      });
    return looking;
  };

  return {
    _listeners,
    _current: () => current,
    _nearest(path) {
      // A page that is closed must not lose what waits for the answer.
      if (current === undefined) return isHiddenOrOffline() ? first : look(path);
      if (current !== home && performance.now() - lookedAt > RETURN_AFTER_MS) void look(path);
      return current;
    },
    _awaitAnswer(region, path) {
      const timer = setInterval(() => (current ?? region) === region && look(path, region), timeout);
      return () => clearInterval(timer);
    },
  };
}

/** Reads a document: in a transaction, so that the SDK opens no stream. Resolves when the region has answered. Cost: 1 read. */
async function probe(firestore: Firestore, path: string): Promise<void> {
  await readFromServer(doc(firestore, path), 1);
}
