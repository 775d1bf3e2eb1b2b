/**
 * How fresh totals are: the time from the acknowledgement of an increment until the page has a total that includes it.
 *
 * A total includes every commit up to `asOf`, and a commit precedes its acknowledgement. So an increment that was
 * acknowledged by `asOf` is included. `asOf` is on the server's clock, which is compared with the browser's: a total cannot
 * arrive before its `asOf`, so the server's clock is ahead by at least `asOf` minus the arrival. The fastest total gives the
 * best bound.
 */

export interface Freshness {
  /** Half of the increments were in a total after this many milliseconds. */
  readonly median: number;
  /** 95 of 100 were after this many. */
  readonly p95: number;
}

/** Older samples are dropped. */
const RECENT_MS = 15_000;

/** An increment that is acknowledged this soon after the arrival of a total may be in it. */
const SETTLE_MS = 2_000;

/** Times are milliseconds by the browser's clock, except `asOf`. */
export class FreshnessLog {
  #waiting: number[] = [];
  #samples: { readonly at: number; readonly age: number }[] = [];
  /** The least lead of the server's clock. */
  #serverLead = Number.NEGATIVE_INFINITY;
  #asOf = Number.NEGATIVE_INFINITY;
  /** When the last total arrived. */
  #seenAt = Number.NEGATIVE_INFINITY;

  acknowledged(at: readonly number[]): void {
    this.#waiting.push(...at);
  }

  published(asOf: number, seenAt: number): void {
    // The same state once more tells nothing of the functions.
    if (asOf <= this.#asOf) return;
    this.#asOf = asOf;
    this.#serverLead = Math.max(this.#serverLead, asOf - seenAt);
    this.#seenAt = seenAt;
    const until = asOf - this.#serverLead;
    const isIncluded = (at: number) => at <= until;
    const included = this.#waiting.filter(isIncluded).map((at) => ({ at: seenAt, age: seenAt - at }));
    this.#waiting = this.#waiting.filter((at) => !isIncluded(at));
    if (included.length === 0) return;
    this.#samples = [...this.#samples, ...included].filter(({ at }) => at > seenAt - RECENT_MS);
  }

  /** Forgets waiting increments: a hidden page receives no totals. */
  pause(): void {
    this.#waiting = [];
  }

  /**
   * The increments that were acknowledged after the last total had arrived, and that no later one has come to include: since when, and
   * how many. `undefined` if there are none.
   */
  get late(): { readonly since: number; readonly count: number } | undefined {
    const later = this.#waiting.filter((at) => at > this.#seenAt + SETTLE_MS);
    return later.length > 0 ? { since: Math.min(...later), count: later.length } : undefined;
  }

  /** @returns `undefined` until a total includes an increment of this browser */
  get(): Freshness | undefined {
    const ages = this.#samples.map(({ age }) => age).sort((a, b) => a - b);
    const at = (share: number) => ages[Math.min(Math.floor(share * ages.length), ages.length - 1)] ?? 0;
    return ages.length > 0 ? { median: at(0.5), p95: at(0.95) } : undefined;
  }
}
