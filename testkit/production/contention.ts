/**
 * What a document takes: a sustained rate of writes, and a burst after a rest. A write beyond that waits, and is ABORTED if it
 * would wait too long.
 *
 * A token bucket with a queue, kept as one number per document: when the document is at rest again without further writes. A
 * token is reserved when a write arrives, so writes are served in the order of arrival.
 *
 * Not modelled: limits that depend on a document's size and indexes, and the ramp-up of a new key range (500/50/5).
 */
import type { Millis } from "../statistics.ts";

export interface WriteLimits {
  /** Writes per second that one document sustains. */
  readonly perSecond: number;
  /** Writes that a document takes at once after a rest. */
  readonly burst: number;
  /** A write that would wait longer is refused. */
  readonly longestWait: Millis;
}

/**
 * - The rate: "a sustained write limit of 1 QPS per document"
 *   (https://firebase.googleblog.com/2019/03/increment-server-side-cloud-firestore.html), and 10 shards "can handle 10x as
 *   many writes" (https://firebase.google.com/docs/firestore/solutions/counters). Today's documentation gives no figure: it
 *   "depends highly on the workload"
 *   (https://firebase.google.com/docs/firestore/best-practices#updates_to_a_single_document).
 * - The burst: ten updates in a loop all succeeded, and the limit is a sustained rate, not a hard one
 *   (https://github.com/firebase/firebase-js-sdk/issues/495). That a rest allows a burst again is an assumption.
 * - The longest wait is an assumption: Google gives no figure.
 */
export const WRITE_LIMITS: WriteLimits = { perSecond: 1, burst: 10, longestWait: 10_000 };

/**
 * First latency, then ABORTED: "contention, higher latency, or other errors" (best practices, as above), and "a document receiving
 * too many updates per second" (https://cloud.google.com/firestore/native/docs/understand-error-codes). The text is what SDKs
 * report (https://github.com/googleapis/nodejs-firestore/issues/827).
 */
export const ABORTED_MESSAGE = "Too much contention on these documents. Please try again.";

/** From a write to its ABORTED. Assumption. The governor refuses at once, so that its tests are short. */
export const ABORTED_AFTER: Millis = 2_000;

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
