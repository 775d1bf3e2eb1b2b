/**
 * The total that a watch shows: the last published total plus this client's increments that it does not include yet. No
 * increment counts twice, in whatever order acknowledgements and totals arrive.
 *
 * A published total includes exactly the increments committed up to its `asOf`. The client knows two bounds of the commit
 * time of its own increment: it is later than any `asOf` read before the increment was made, and within a round trip of the
 * server's timestamp, which the acknowledgement brings.
 *
 *         earliest              latest                   a total whose `asOf` is
 *   ─────────┼────────────────────┼─────────────→        before earliest: does not include it, so it is added
 *              committed in between                      latest or later: includes it, so it is dropped
 *                                                        in between:      not known yet
 *
 * While that is not known, the true total is between the total with and without the increment. The shown total moves no
 * further than into that range, so a guess neither lowers it nor counts twice. The acknowledgement or the next total decides.
 *
 * Instants are whole microseconds of the server's clock since the epoch. The client's clock only measures the round trip.
 */

/** One increment of this client. */
export interface OwnIncrement {
  /** The amount. */
  readonly by: number;
  /** The commit is not before this instant. */
  _earliest: number;
  /** The commit is not after this instant. */
  _latest: number;
}

/** Sums of fractions that cancel out may differ from 0 by this much. */
const ROUNDING = 1e-9;

/** The total of one counter. Synchronous, no I/O. Each call takes time in proportion to the increments not dropped yet. */
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

  /** Whether there are increments that the server has not acknowledged, or that a buffer has not written. */
  get _pending(): boolean {
    return (
      Math.abs(this.#buffered) > ROUNDING || [...this.#own].some(({ _latest }) => _latest === Number.POSITIVE_INFINITY)
    );
  }

  /** The client makes an increment. */
  _incrementMade(by: number): OwnIncrement {
    const own = { by, _earliest: this.#asOf + 1, _latest: Number.POSITIVE_INFINITY };
    this.#own.add(own);
    this.#shown += by;
    return own;
  }

  /** The sum that buffers have not written changes by an amount. No published total includes that sum. */
  _bufferedChanged(by: number): void {
    this.#buffered += by;
    this.#shown += by;
  }

  /** The server has committed an increment, at `latest` or before. */
  _incrementCommitted(own: OwnIncrement, latest: number): void {
    own._latest = latest;
    this.#settle();
  }

  /** The server has refused an increment. */
  _incrementRefused(own: OwnIncrement): void {
    if (this.#own.delete(own)) this.#shown -= own.by;
    this.#settle();
  }

  /**
   * The client reads a total.
   *
   * @param asOf - 0 for a counter without a published total: new or deleted
   * @param fromCache - whether it is from the cache of this device. Such a first total is older than any own increment
   */
  _totalRead(total: number, asOf: number, fromCache: boolean): void {
    if (asOf === 0 && this.#asOf > 0 && !fromCache) {
      // The counter was deleted, and with it all committed increments.
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
