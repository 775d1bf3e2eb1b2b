/** Observers of watches. */

/**
 * Is told each value of a watch: a function, or an object that is told of its failure, too. Without `error`, a failure goes to
 * `console.error`. On the web, a watch that fails tries again, and tells its error once until it works. On servers, it has ended.
 */
export type CounterObserver<T, E extends Error = Error> =
  | ((value: T) => void)
  | {
      /** Called with the first value, and with each change. */
      next(value: T): void;
      /** Called when the watch fails. */
      error?(error: E): void;
    };

/**
 * The functions of an observer.
 *
 * @param otherwise  is called with an error, if the observer has no `error`
 */
export function observing<T, E extends Error>(
  observer: CounterObserver<T, E>,
  otherwise: (error: E) => void,
): [next: (value: T) => void, error: (error: E) => void] {
  const { next, error = otherwise }: Exclude<typeof observer, (value: T) => void> =
    typeof observer === "function" ? { next: observer } : observer;
  return [next.bind(observer), error.bind(observer)];
}
