/**
 * Quantiles of durations, without keeping the durations: each is counted in one of a few hundred bins, whose borders are 5 %
 * apart. A quantile is right to 5 %, and millions of durations take no memory.
 */
import type { Millis } from "../../functions/src/decisions.ts";

const RATIO = Math.log(1.05);
/** Up to more than a day. */
const BINS = 400;

export class Histogram {
  readonly #bins = new Float64Array(BINS);
  count = 0;
  max: Millis = 0;

  add(duration: Millis, times = 1): void {
    const bin = duration <= 1 ? 0 : Math.min(Math.ceil(Math.log(duration) / RATIO), BINS - 1);
    this.#bins[bin] = (this.#bins[bin] as number) + times;
    this.count += times;
    if (duration > this.max) this.max = duration;
  }

  /** @returns the upper border of the bin in which the quantile lies; `NaN` without durations */
  quantile(share: number): Millis {
    if (this.count === 0) return Number.NaN;
    let left = share * this.count;
    const bin = this.#bins.findIndex((times) => {
      left -= times;
      return left <= 0 && times > 0;
    });
    return bin < 0 ? this.max : Math.min(Math.exp(bin * RATIO), this.max);
  }
}
