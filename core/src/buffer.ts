/** Combines many increments into few writes. Shared by the web and the server SDK, which pass in how to write. */
import { CounterError } from "./errors.ts";
import { givenAmount } from "./validation.ts";

/** When a buffer writes, and how much. */
export interface BufferedCounterOptions {
  /** Milliseconds between an increment and the write that carries it. Default 1,000. */
  flushInterval?: number | undefined;
  /**
   * The largest amount of one write. When it is reached, the buffer writes at once. Default 100 in clients, none in
   * servers. The default rules accept an amount of 1 alone: let `isAllowedAmount` in `firestore.rules` return `by is int && by >= 1 && by <= 100`.
   */
  maxPending?: number | undefined;
  /**
   * Called when a write fails. The next write includes its amount, unless the code is `counter/unknown-outcome` or
   * `counter/dropped`: it may count already. Default: `console.error`.
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** A counter whose increments are collected before they are written. */
export interface BufferedCounter {
  /**
   * Adds `by` to the next write. No I/O.
   *
   * @throws CounterError `counter/invalid-amount`, or `counter/closed` after `close`
   */
  increment(by?: number): void;
  /** Writes at once. Resolves when the server has acknowledged all increments so far. Cost: 1 write per `maxPending`. */
  flush(): Promise<void>;
  /** Refuses further increments and flushes. After a rejection the next call writes what the failed ones did not; see `onError`. */
  close(): Promise<void>;
}

/**
 * @param write - writes a sum; resolves when the server has acknowledged it
 * @param bufferedChanged - called with each change of the sum that is not written yet
 */
export function createBuffer(
  write: (by: number) => Promise<void>,
  bufferedChanged: (by: number) => void,
  { flushInterval = 1_000, maxPending = 100, onError = console.error }: BufferedCounterOptions,
): BufferedCounter {
  // A timer cannot wait longer.
  if (!(flushInterval > 0 && flushInterval < 2 ** 31)) throw badOption("flushInterval", flushInterval, " below 2^31");
  if (!(maxPending > 0)) throw badOption("maxPending", maxPending);
  const inFlight = new Set<Promise<void>>();
  let pending = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  let failed = false;

  const addPending = (by: number) => {
    pending += by;
    bufferedChanged(by);
  };
  const send = () => {
    clearTimeout(timer);
    timer = undefined;
    while (pending !== 0) sendAtMost(Math.max(-maxPending, Math.min(pending, maxPending)));
  };
  const sendAtMost = (by: number) => {
    addPending(-by);
    const writing = write(by).then(
      () => {
        failed = false;
      },
      (error) => {
        failed = true;
        // It may count already, so it must not be written again.
        if (!/unknown-outcome|dropped/.test((error as CounterError).code)) addPending(by);
        throw error;
      },
    );
    inFlight.add(writing);
    const done = () => inFlight.delete(writing);
    writing.then(done, (error) => {
      done();
      onError(error);
    });
  };
  // While a write is in flight, for example offline, further writes would only queue up.
  const tick = () => {
    timer = undefined;
    if (inFlight.size === 0) send();
    else timer = setTimeout(tick, flushInterval);
  };
  const buffer: BufferedCounter = {
    increment(...given) {
      if (closed) throw new CounterError("counter/closed", "increment after close; create another bufferedCounter");
      const by = givenAmount(given);
      // After a failed write, the next one is made an interval after the next increment, not at each increment.
      if (!failed && Math.abs(pending + by) > maxPending) send();
      addPending(by);
      if (!failed && Math.abs(pending) >= maxPending) send();
      else timer ??= setTimeout(tick, flushInterval);
    },
    async flush() {
      send();
      await Promise.all(inFlight);
    },
    close() {
      closed = true;
      return buffer.flush();
    },
  };
  return buffer;
}

function badOption(name: string, value: number, bound = ""): CounterError {
  return new CounterError("counter/invalid-option", `${name} is ${value}; pass a positive number${bound}`);
}
