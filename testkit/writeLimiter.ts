/**
 * How long a write must wait for its documents: each takes a sustained rate, and a burst after a rest.
 *
 * A token bucket with a queue, kept as one number per document: when it would be at rest again if nobody wrote. Tokens
 * are reserved when a write comes, so writes are served in the order they came and the queue is never longer than asked.
 */

/** Milliseconds: a duration, or on the clock that the caller keeps. */
type Millis = number;

export interface WriteLimits {
  /** Writes per second that one document takes for as long as one likes. */
  readonly perSecond: number;
  /** Writes that a document takes at once after a rest. */
  readonly burst: number;
  /** A write that would have to wait longer is refused. */
  readonly longestWait: Millis;
}

export class WriteLimiter {
  readonly #limits: WriteLimits;
  readonly #restsAt = new Map<string, Millis>();

  constructor(limits: WriteLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a token of every document that one commit writes.
   *
   * @param now  never earlier than in the call before
   * @returns    how long the commit waits, for the slowest of them; `undefined` if it is refused, and has taken nothing
   */
  admit(documents: Iterable<string>, now: Millis): Millis | undefined {
    const { perSecond, burst, longestWait } = this.#limits;
    const interval = 1_000 / perSecond;
    const restsAt = new Map([...documents].map((name) => [name, Math.max(this.#restsAt.get(name) ?? now, now)]));
    const wait = Math.max(0, ...[...restsAt.values()].map((rest) => rest - now - (burst - 1) * interval));
    if (wait > longestWait) return undefined;
    for (const [name, rest] of restsAt) this.#restsAt.set(name, rest + interval);
    return wait;
  }
}
