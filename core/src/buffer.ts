/** Coalesces many increments into few writes. The same for every SDK: what writes and what shows is passed in. */
import { CounterError } from "./errors.ts";
import { validAmount } from "./validation.ts";

/** When a buffer writes. */
export interface BufferOptions {
  /** Milliseconds between an increment and the write that carries it. Default 1,000. */
  flushInterval?: number | undefined;
  /**
   * No write adds more than this; reaching it writes at once. Default 100. The default rules accept no more than 1: make
   * `isAllowedAmount` in `firestore.rules` say `by is int && by >= 1 && by <= 100`.
   */
  maxPending?: number | undefined;
  /** Is told when a write in the background fails. What it carried is kept for the next. Default: `console.error`. */
  onError?: ((error: unknown) => void) | undefined;
}

/** Increments that are collected before they are written. */
export interface BufferedCounter {
  /**
   * Adds `by`, later. No I/O.
   *
   * @throws CounterError `counter/invalid-amount`, or `counter/closed` after `close`
   */
  increment(by?: number): void;
  /** Writes now. Resolves once all increments so far are acknowledged. Cost: 1 write per `maxPending`. */
  flush(): Promise<void>;
  /** Refuses further increments and flushes. If it rejects, nothing is lost: what is pending stays, call it again. */
  close(): Promise<void>;
}

/**
 * @param write - writes a sum; resolves when it is acknowledged
 * @param hold - is told by how much what is held back grows
 */
export function createBuffer(
  write: (by: number) => Promise<void>,
  hold: (by: number) => void,
  { flushInterval = 1_000, maxPending = 100, onError = console.error }: BufferOptions,
): BufferedCounter {
  // The longest a timer can wait.
  if (!(flushInterval > 0 && flushInterval < 2 ** 31)) throw badOption("flushInterval", flushInterval);
  if (!(maxPending > 0)) throw badOption("maxPending", maxPending);
  const underWay = new Set<Promise<void>>();
  let pending = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  let failed = false;

  const keep = (by: number) => {
    pending += by;
    hold(by);
  };
  const send = () => {
    clearTimeout(timer);
    timer = undefined;
    while (pending !== 0) sendAtMost(Math.max(-maxPending, Math.min(pending, maxPending)));
  };
  const sendAtMost = (by: number) => {
    keep(-by);
    const writing = write(by).then(
      () => {
        failed = false;
      },
      (error) => {
        failed = true;
        // What may count already must not be written again.
        if ((error as CounterError).code !== "counter/unknown-outcome") keep(by);
        throw error;
      },
    );
    underWay.add(writing);
    const done = () => underWay.delete(writing);
    writing.then(done, (error) => {
      done();
      onError(error);
    });
  };
  // While the last write waits, because the device is offline say, one more each interval would only queue up.
  const tick = () => {
    timer = undefined;
    if (underWay.size === 0) send();
    else timer = setTimeout(tick, flushInterval);
  };
  const buffer: BufferedCounter = {
    increment(by = 1) {
      if (closed) throw new CounterError("counter/closed", "increment after close; make another bufferedCounter");
      validAmount(by);
      // What fails, is tried again with the next interval, not with each increment.
      if (!failed && Math.abs(pending + by) > maxPending) send();
      keep(by);
      if (!failed && Math.abs(pending) >= maxPending) send();
      else timer ??= setTimeout(tick, flushInterval);
    },
    async flush() {
      send();
      await Promise.all(underWay);
    },
    close() {
      closed = true;
      return buffer.flush();
    },
  };
  return buffer;
}

function badOption(name: string, value: number): CounterError {
  return new CounterError("counter/invalid-option", `${name} is ${value}; pass a positive number`);
}
