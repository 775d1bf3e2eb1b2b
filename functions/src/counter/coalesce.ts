/**
 * Handles events with the same key one at a time, and remembers the last outcome for each key. It covers most events of a
 * busy counter, which then need no I/O.
 */

/** How many keys an instance remembers, at about 300 bytes each. */
const MEMORY_SIZE = 10_000;

export interface Coalescing<Event, Result> {
  /** What the event is about: a counter or a document. */
  readonly keyOf: (event: Event) => string;
  /** Whether the last outcome shows that nothing is left to do for the event. */
  readonly isCovered: (outcome: Result, event: Event) => boolean;
  /**
   * @param last  the last outcome, which does not cover the event; `undefined` if this instance remembers none
   * @returns     `undefined` if there is nothing to remember
   */
  readonly handle: (event: Event, last: Result | undefined) => Promise<Result | undefined>;
}

/** @returns the event handler of one instance. It resolves when nothing is left to do; else it rejects, for a retry */
export function coalesce<Event, Result>(coalescing: Coalescing<Event, Result>): (event: Event) => Promise<void> {
  const { keyOf, isCovered, handle } = coalescing;
  const outcomes = new Map<string, Result>();
  const inProgress = new Map<string, Promise<void>>();

  return async (event) => {
    const key = keyOf(event);
    for (;;) {
      const last = outcomes.get(key);
      if (last !== undefined && isCovered(last, event)) return;
      const other = inProgress.get(key);
      if (!other) break;
      // The other event reports its own failure. This one checks again.
      await other.catch(() => undefined);
    }
    const handling = handle(event, outcomes.get(key))
      .then((outcome) => remember(key, outcome))
      .finally(() => inProgress.delete(key));
    inProgress.set(key, handling);
    await handling;
  };

  function remember(key: string, outcome: Result | undefined): void {
    outcomes.delete(key);
    if (outcome === undefined) return;
    outcomes.set(key, outcome);
    if (outcomes.size > MEMORY_SIZE) outcomes.delete(outcomes.keys().next().value as string);
  }
}
