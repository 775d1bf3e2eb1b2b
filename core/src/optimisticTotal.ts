/**
 * What a watcher sees between two published totals: the last total, and this client's own increments that are not in
 * it yet. Never one of them twice, whatever the order in which acknowledgements and totals arrive.
 *
 * A published total holds exactly what was committed up to its `asOf`. Of an own increment we know bounds of its commit
 * time: later than any `asOf` seen before it was made, and, once acknowledged, what the server's timestamp says.
 *
 *         earliest              latest                   a total with `asOf`
 *   ─────────┼────────────────────┼─────────────→        before earliest: does not hold it, so it is added
 *             somewhere in between                       from latest on:  holds it, so it is forgotten
 *                                                        in between:      not known yet
 *
 * While it is not known, the truth is between the total with and without it, and what is shown moves no further than
 * into that range: nothing dips and nothing is doubled on a guess. The acknowledgement, or the next total, tells.
 *
 * Instants are microseconds of the server's clock since the epoch, whole numbers; the client's clock is never asked.
 */

/** One increment of this client. */
export interface OwnIncrement {
  /** What it adds. */
  readonly by: number;
  /** It was not committed before this instant. */
  _earliest: number;
  /** It was committed by this instant. */
  _latest: number;
}

/** What is left of sums of fractions that cancel out. */
const ROUNDING = 1e-9;

/** Of one counter. Synchronous, no I/O. Costs time in proportion to the increments that are not in the total yet. */
export class OptimisticTotal {
  readonly #own = new Set<OwnIncrement>();
  #published = 0;
  #asOf = 0;
  #shown = 0;
  #buffered = 0;
  #isFirst = true;

  /** The total to show. */
  get _total(): number {
    return this.#shown;
  }

  /** Whether `total` holds increments that the server has not acknowledged. */
  get _pending(): boolean {
    return (
      Math.abs(this.#buffered) > ROUNDING || [...this.#own].some(({ _latest }) => _latest === Number.POSITIVE_INFINITY)
    );
  }

  /** An increment was made. */
  _incrementMade(by: number): OwnIncrement {
    const own = { by, _earliest: this.#asOf + 1, _latest: Number.POSITIVE_INFINITY };
    this.#own.add(own);
    this.#shown += by;
    return own;
  }

  /** More is held back and not sent yet, so that no total can have it; or less, if `by` is negative. */
  _bufferedChanged(by: number): void {
    this.#buffered += by;
    this.#shown += by;
  }

  /** The server committed it, and not later than `latest`. */
  _incrementCommitted(own: OwnIncrement, latest: number): void {
    own._latest = latest;
    this.#settle();
  }

  /** The server refused it. */
  _incrementRefused(own: OwnIncrement): void {
    if (this.#own.delete(own)) this.#shown -= own.by;
    this.#settle();
  }

  /**
   * A total was read.
   *
   * @param asOf - 0 for a counter without a published total: new, or deleted
   * @param fromCache - whether it was read from this device. The first total is then older than any increment
   */
  _totalRead(total: number, asOf: number, fromCache: boolean): void {
    if (asOf === 0 && this.#asOf > 0 && !fromCache) {
      // Deleted, and with it everything that was committed before.
      for (const own of this.#own) if (own._latest < Number.POSITIVE_INFINITY) this.#own.delete(own);
    } else if (asOf < this.#asOf) {
      return;
    }
    if (this.#isFirst) {
      this.#shown = total + this.#buffered;
      if (fromCache) for (const own of this.#own) own._earliest = Math.max(own._earliest, asOf + 1);
    }
    this.#isFirst = false;
    this.#published = total;
    this.#asOf = asOf;
    this.#settle();
  }

  #settle(): void {
    let low = this.#published + this.#buffered;
    let high = low;
    for (const own of this.#own) {
      if (own._latest <= this.#asOf) this.#own.delete(own);
      else {
        const surely = own._earliest > this.#asOf;
        if (surely || own.by < 0) low += own.by;
        if (surely || own.by > 0) high += own.by;
      }
    }
    this.#shown = Math.min(Math.max(this.#shown, low), high);
  }
}
