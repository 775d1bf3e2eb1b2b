/**
 * How long a write waits for its documents: each document takes a sustained rate of writes, and a burst after a rest.
 *
 * A token bucket with a queue, kept as one number per document: when the document is at rest again without further writes. A
 * token is reserved when a write arrives, so writes are served in the order of arrival.
 */

/** Milliseconds: a duration, or on the caller's clock. */
type Millis = number;

export interface WriteLimits {
  /** Writes per second that one document sustains. */
  readonly perSecond: number;
  /** Writes that a document takes at once after a rest. */
  readonly burst: number;
  /** A write that would wait longer is refused. */
  readonly longestWait: Millis;
}

/** How long a write waits for a document that is at rest from `restsAt` on; `undefined` if the write is refused. */
export function waitFor(
  restsAt: Millis,
  now: Millis,
  { perSecond, burst, longestWait }: WriteLimits,
): Millis | undefined {
  const wait = Math.max(restsAt - now - ((burst - 1) * 1_000) / perSecond, 0);
  return wait > longestWait ? undefined : wait;
}

/** When a document is at rest after one more write. */
export function restsAfter(restsAt: Millis, now: Millis, { perSecond }: WriteLimits): Millis {
  return Math.max(restsAt, now) + 1_000 / perSecond;
}

/** The documents of one database. */
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
   * @returns    how long the commit waits, which is for the slowest document; `undefined` if it is refused, and took nothing
   */
  admit(documents: Iterable<string>, now: Millis): Millis | undefined {
    const names = [...documents];
    const waits = names.map((name) => waitFor(this.#restsAt.get(name) ?? 0, now, this.#limits));
    if (waits.includes(undefined)) return undefined;
    for (const name of names) this.#restsAt.set(name, restsAfter(this.#restsAt.get(name) ?? 0, now, this.#limits));
    return Math.max(0, ...(waits as Millis[]));
  }
}
