/** Collects increments before writing them: for a scroll counter or the score of a game. */
import type { Timestamp } from "firebase/firestore";
import {
  type BufferedCounter,
  type BufferedCounterOptions,
  CounterError,
  createBuffer,
  givenAmount,
  LOOKUP_ATTEMPTS,
} from "../../../core/src/index.ts";
import { type BeaconState, beacon } from "../beacon/beacon.ts";
import type { Committed } from "./call.ts";
import { type Counter, type CounterRef, counterDoc, counterOf, readFromServer } from "./counter.ts";
import { incrementCounter } from "./increment.ts";

/** Options of a buffered counter. */
export interface WebBufferedCounterOptions extends BufferedCounterOptions {
  /**
   * The URL of the function `ingest`: increments go through it, as by `beacon` of `firestore-tally/beacon`, so they survive
   * the page, and need no user. `maxPending` then is the largest amount of an event. Amounts are whole numbers from 1.
   */
  via?: string | undefined;
}

/**
 * Collects increments and writes their sum once per `flushInterval`, and when the page becomes hidden. `onCounter` shows them
 * at once.
 *
 * Increments that are not written yet are lost when the page crashes, is closed or is left, because browsers then cut its
 * requests: while the device is online, those of one `flushInterval` at most. After `await close()` none are lost. With
 * Firestore's persistence, written increments that are not acknowledged survive a reload.
 *
 * The default rules accept an amount of 1 alone, see `maxPending`. If they refuse a sum and do not let this client read the counter,
 * the sum is dropped with `counter/unknown-outcome`: what the SDK sends again is refused likewise, and may count already.
 *
 * With `via`, what is not acknowledged waits in `localStorage`, so increments survive the page, within the bounds of `beacon`.
 * `flush` rejects with `counter/dropped` if increments are dropped, and these are no longer shown. `onError` is also called with
 * `counter/unavailable`, as by `beacon`.
 *
 * Cost: 1 write per interval with increments; with `via`, 1 request.
 *
 * @throws CounterError `counter/invalid-option`
 *
 * @example
 * ```ts
 * const scrolls = bufferedCounter(counter(db, "scrolls:home"), { flushInterval: 5_000 });
 * addEventListener("scroll", () => scrolls.increment());
 * const views = bufferedCounter(counter(db, "views:home"), { via: "https://example.com/ingest" });
 * ```
 */
export function bufferedCounter(ref: CounterRef, options: WebBufferedCounterOptions = {}): BufferedCounter {
  const counter = counterOf(ref);
  const bufferedChanged = (by: number) => {
    counter._buffered = (counter._buffered ?? 0) + by;
    counter._watcher?._bufferedChanged(by);
  };
  const buffer = options.via
    ? createIngestBuffer(counter, options.via, options, bufferedChanged)
    : createBuffer((by) => writeSum(counter, by), bufferedChanged, options);
  if (typeof document === "undefined") return buffer;
  const flush = () => {
    if (document.visibilityState === "hidden") buffer.flush().catch(() => {});
  };
  document.addEventListener("visibilitychange", flush);
  return {
    ...buffer,
    async close() {
      await buffer.close();
      document.removeEventListener("visibilitychange", flush);
    },
  };
}

/**
 * Writes a sum. Cost: 1 write; 1 read if it is refused and this client has not read the counter document, which `mayReadCounter` lets it read
 * like the shards.
 *
 * @throws CounterError `counter/permission-denied` if the rules refuse it; `counter/unknown-outcome` if the client could not read the
 *         shard, whose mark tells whether the refused write is one that counts, sent again after a cut connection; or after any other error
 */
async function writeSum(counter: Counter, by: number): Promise<void> {
  try {
    await incrementCounter(counter, by);
  } catch (error) {
    const { code, message } = error as CounterError;
    const canRead = async () => await readFromServer(counterDoc(counter), LOOKUP_ATTEMPTS).catch(() => undefined);
    if (code === "counter/permission-denied" && (counter._latest || (await canRead()))) throw error;
    throw new CounterError("counter/unknown-outcome", `unless it counts already: ${message}`, error);
  }
}

/** A buffer whose sums a beacon sends: each as one batch or more, at once. */
function createIngestBuffer(
  counter: Counter,
  via: string,
  options: BufferedCounterOptions,
  bufferedChanged: (by: number) => void,
): BufferedCounter {
  const { maxPending = 100, onError = console.error } = options;
  if (!(maxPending >= 1 && (maxPending % 1 === 0 || maxPending === Number.POSITIVE_INFINITY)))
    throw new CounterError("counter/invalid-option", `maxPending is ${maxPending}; pass a whole number from 1`);
  let dropped: unknown;
  const told = (error: unknown) => {
    dropped = error;
    onError(error);
  };
  const source = beacon(via, { maxAmount: maxPending, onError: told }) as BeaconState;
  const send = async (by: number): Promise<Committed> => {
    const others = new Set(source._batches);
    source.count(counter.id, by);
    const batches = [...source._batches].filter((one) => !others.has(one));
    // Before the first `await`, because the page may be about to end.
    source.flush();
    const at = Math.max(...(await Promise.all(batches.map(({ _settled }) => _settled as Promise<number>))));
    if (!at) throw dropped;
    // A watch reads no other part of a timestamp.
    return { _path: "", _at: { seconds: Math.floor(at / 1_000), nanoseconds: (at % 1_000) * 1e6 } as Timestamp };
  };
  const write = async (by: number) => {
    const outcome = send(by);
    counter._watcher?._track({ _by: by }, outcome);
    await outcome;
  };
  // The beacon tells `onError`; and it divides a sum into events.
  const buffer = createBuffer(write, bufferedChanged, {
    ...options,
    maxPending: Number.POSITIVE_INFINITY,
    onError() {},
  });
  return {
    ...buffer,
    increment(...given) {
      const by = givenAmount(given);
      if (!(by > 0 && by % 1 === 0)) throw invalidAmount(by);
      buffer.increment(by);
    },
    async close() {
      await buffer.close();
      await source.close();
    },
  };
}

function invalidAmount(by: number): CounterError {
  return new CounterError("counter/invalid-amount", `amount is "${by}"; pass a whole number from 1`);
}
