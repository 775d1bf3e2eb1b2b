/** A reference to one counter: where it is, and what this client knows of it. */
import { type DocumentReference, doc, type Firestore, getDoc, type Timestamp } from "firebase/firestore";
import { counterPath, DEFAULT_COLLECTION, validName } from "../../../core/src/index.ts";
import { SLOW_ACK_MS } from "../patience.ts";
import type { CounterOptions, Reference } from "../reference.ts";
import { createSpread, type Spread } from "../spread.ts";

/** Names one counter. The same object whenever the same counter is asked for. */
export type CounterRef = Reference<Firestore>;

/** What stands behind a reference. Names with an underscore are shortened when the package is built. */
export interface Counter extends CounterRef {
  readonly _spread: Spread;
  /** Shows the increments of this client before they are published, once somebody has watched. */
  _watcher?: Watcher;
  /** What buffers hold back. */
  _held?: number;
  /** While the shard count is read: that it is, or was waited for long enough. */
  _reading?: Promise<void> | undefined;
}

export interface Watcher {
  /** An increment was made, or a keyed one taken back. Its outcome rejects if it does not count. */
  _follow(by: number, outcome: Promise<Committed>, key: string | undefined): void;
  /** What buffers hold back grew by an amount. */
  _hold(by: number): void;
}

/** An increment was committed. */
export interface Committed {
  /** The shard it is on. */
  readonly _path: string;
  /** Milliseconds from sending it to its acknowledgement. */
  readonly _took: number;
  /** The server's timestamp of it, or a later one, if it had to be looked up; `null` if its key had counted before. */
  readonly _at: Timestamp | null | undefined;
}

const counters = new WeakMap<Firestore, Record<string, Counter>>();

/**
 * Refers to a counter. No I/O; the counter comes into being with its first increment.
 *
 * @param id - any Firestore document id. `group:key`, such as `views:home`, is the recommended form
 * @throws CounterError `counter/invalid-id` or `counter/invalid-collection`
 *
 * @example
 * ```ts
 * const views = counter(db, "views:home");
 * ```
 */
export function counter(firestore: Firestore, id: string, options: CounterOptions = {}): CounterRef {
  const path = counterPath(validName("collection", options.collection ?? DEFAULT_COLLECTION), validName("id", id));
  const known = counters.get(firestore) ?? {};
  counters.set(firestore, known);
  known[path] ??= { firestore, id, path, _spread: createSpread(Math.random, Date.now) };
  return known[path];
}

/** The counter document. */
export function counterDoc({ firestore, path }: CounterRef): DocumentReference {
  return doc(firestore, path);
}

/**
 * Reads the shard count where there is doubt about what is known, once at a time. Never rejects: not knowing is safe. Cost: 1 read,
 * once a minute or in 20 writes, and for each write while writes are slow.
 *
 * @returns what to wait for before a write, if the doubt is strong: that read; but not when the device is offline, and no
 *          longer than a write may take
 */
export function knowSpread(counter: Counter): unknown {
  const { _spread } = counter;
  const doubt = _spread._doubt();
  if (doubt && !counter._reading) {
    counter._reading = new Promise<void>((resolve) => {
      setTimeout(resolve, globalThis.navigator?.onLine === false ? 0 : SLOW_ACK_MS);
      getDoc(counterDoc(counter))
        .catch(() => undefined)
        .then((snapshot) => {
          _spread._learn(snapshot?.get("shardCount"), snapshot?.get("growing"));
          counter._reading = undefined;
          resolve();
        });
    });
  }
  return doubt > 1 && counter._reading;
}
