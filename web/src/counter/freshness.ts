/**
 * How fresh totals are: the time from the acknowledgement of an increment until a total that includes it is on the page.
 *
 * A total includes whatever was committed by `asOf`. When an increment was committed the page is not told, but it was before
 * its acknowledgement; so one that was acknowledged by `asOf` is included. `asOf` is of the server's clock. That is ahead of
 * ours by no less than it was when any total came; by how much more, no more than the fastest total was under way.
 */

export interface Freshness {
  /** Half of the increments were in a total after so long. */
  readonly median: number;
  /** And 95 of 100 after so long. */
  readonly p95: number;
}

/** Only the last increments are of interest. */
const RECENT_MS = 15_000;

/** Milliseconds throughout, by this browser's clock but for `asOf`. */
export class FreshnessLog {
  #waiting: number[] = [];
  #samples: { readonly at: number; readonly age: number }[] = [];
  /** How far the server's clock is ahead of ours, at least. */
  #ahead = Number.NEGATIVE_INFINITY;

  acknowledged(at: readonly number[]): void {
    this.#waiting.push(...at);
  }

  published(asOf: number, seenAt: number): void {
    this.#ahead = Math.max(this.#ahead, asOf - seenAt);
    const until = asOf - this.#ahead;
    const isIncluded = (at: number) => at <= until;
    const included = this.#waiting.filter(isIncluded).map((at) => ({ at: seenAt, age: seenAt - at }));
    this.#waiting = this.#waiting.filter((at) => !isIncluded(at));
    if (included.length === 0) return;
    this.#samples = [...this.#samples, ...included].filter(({ at }) => at > seenAt - RECENT_MS);
  }

  /** Forgets what waits: no totals are seen for a while. */
  rest(): void {
    this.#waiting = [];
  }

  /** @returns `undefined` while this browser has added nothing that was published */
  get(): Freshness | undefined {
    const ages = this.#samples.map(({ age }) => age).sort((a, b) => a - b);
    const at = (share: number) => ages[Math.min(Math.floor(share * ages.length), ages.length - 1)] ?? 0;
    return ages.length > 0 ? { median: at(0.5), p95: at(0.95) } : undefined;
  }
}
