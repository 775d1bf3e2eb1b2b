/**
 * Ends calls when the `signal` of their caller is aborted. `retry` learns of the signal here, so that the functions between a call and its
 * attempts need not pass it on.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { CounterError, hasOption } from "../../core/src/index.ts";

/** Options of calls that write. */
export interface CallOptions {
  /**
   * Ends the call when it is aborted, such as `AbortSignal.timeout(5_000)`. The call rejects with `counter/unknown-outcome`, and is not
   * retried; its last attempt may still be committed. If the signal was aborted before the call, the call does nothing, and rejects with the
   * signal's reason. Default: the call is retried for half a day.
   */
  signal?: AbortSignal | undefined;
}

const signals = new AsyncLocalStorage<AbortSignal | undefined>();

/**
 * Makes a call, until the signal of its options is aborted.
 *
 * @throws CounterError `counter/unknown-outcome` if it is aborted meanwhile; `counter/invalid-option` if it is no signal; the signal's reason if it
 *         was aborted before: then nothing was done
 */
export async function withSignal<T>(options: unknown, call: () => Promise<T>): Promise<T> {
  const signal = signalOf(options);
  if (!signal) return await call();
  signal.throwIfAborted();
  let abort: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(endedBySignal(signal.reason));
  });
  signal.addEventListener("abort", abort);
  return await Promise.race([signals.run(signal, call), aborted]).finally(() =>
    signal.removeEventListener("abort", abort),
  );
}

/** Whether the signal of the current call was aborted. */
export function isAborted(): boolean {
  return signals.getStore()?.aborted === true;
}

/** @throws the signal's reason if the signal of the current call was aborted */
export function throwIfAborted(): void {
  signals.getStore()?.throwIfAborted();
}

/** Work that several calls wait for, so that the signal of the first one must not end it. */
export function withoutSignal<T>(work: () => T): T {
  return signals.run(undefined, work);
}

function signalOf(options: unknown): AbortSignal | undefined {
  if (!hasOption(options, "signal") || options.signal === undefined) return undefined;
  if (options.signal instanceof AbortSignal) return options.signal;
  throw new CounterError(
    "counter/invalid-option",
    `signal is "${String(options.signal)}"; pass an AbortSignal, such as AbortSignal.timeout(5_000)`,
  );
}

function endedBySignal(cause: unknown): CounterError {
  return new CounterError(
    "counter/unknown-outcome",
    "the signal was aborted, and the call may or may not have been committed. Repeat an increment or a take only with the same `once`. Other " +
      "calls may be repeated; a repeated reset also discards what was counted in between",
    cause,
  );
}
