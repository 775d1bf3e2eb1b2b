/**
 * Ends calls when the `signal` of their caller is aborted. `retry` learns of the signal here, so that the functions between a call and its
 * attempts need not pass it on.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { CounterError, hasOption } from "../../core/src/index.ts";

/** Options of calls that write. */
export interface CallOptions {
  /**
   * Ends the call when it is aborted, such as `AbortSignal.timeout(5_000)`. The call then rejects with `counter/unknown-outcome`: it makes no
   * further attempt, but its last one may still succeed. Default: the call is retried for half a day.
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
export async function endingBy<T>(options: unknown, call: () => Promise<T>): Promise<T> {
  const signal = signalOf(options);
  if (!signal) return await call();
  signal.throwIfAborted();
  let abort: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(unknownOutcome(signal.reason));
  });
  signal.addEventListener("abort", abort);
  return await Promise.race([signals.run(signal, call), aborted]).finally(() =>
    signal.removeEventListener("abort", abort),
  );
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
    "signal is no AbortSignal; pass one, such as AbortSignal.timeout(5_000)",
  );
}

function unknownOutcome(cause: unknown): CounterError {
  return new CounterError(
    "counter/unknown-outcome",
    "the signal has ended the call, which may or may not have succeeded. Repeat it if it counts once, as with the same `once`",
    cause,
  );
}
