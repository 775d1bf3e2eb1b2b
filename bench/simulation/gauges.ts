/**
 * What is observed of a run: how long increments take to be acknowledged, how long acknowledged ones take to show in the
 * total, how many shards there are over what the rate needs, and how often the shard count changes.
 *
 * An acknowledgement belongs to the window in which its increment was made, however late it comes: so a slow window is one in
 * which people waited, and a jam that dissolves slowly does not look like a fast service.
 */

import { SLOW_ACK_MS } from "../../core/src/index.ts";
import type { Millis, Published } from "../../functions/src/decisions.ts";
import type { Counter } from "./counter.ts";
import { Histogram } from "./histogram.ts";

/** Increments of which 95 of 100 are not a matter of luck. */
const ENOUGH = 500;

/** What happened from `at` until the next window. */
export interface Window {
  readonly at: Millis;
  readonly acks: Histogram;
  /** How many were acknowledged within a second. */
  quick: number;
  offered: number;
  committed: number;
  publishes: number;
  shardCount: number;
}

export class Gauges {
  readonly #window: Millis;
  readonly #since: Millis;
  readonly #until: Millis;
  readonly windows: Window[] = [];
  readonly acks = new Histogram();
  readonly staleness = new Histogram();
  publishes = 0;
  /** The least time between two totals of a counter. */
  closest: Millis = Number.POSITIVE_INFINITY;
  sweeps = 0;
  /** Polls that never came, as a sweep sees it. */
  overdue = 0;
  grown = 0;
  shrunk = 0;
  /** Changes of direction: a shrink after a growth or the reverse. */
  turns = 0;
  /** Of the first counter, over seconds in which there was traffic: shards there are to spread over, and shards needed. */
  provided = 0;
  mostShards = 0;
  needed = 0;
  refused = 0;
  lost = 0;

  /**
   * @param since  increments made before are left out
   * @param until  when the traffic ends; how long it takes to show what is tried again after that is nobody's interest
   */
  constructor(window: Millis, since: Millis, until: Millis) {
    this.#window = window;
    this.#since = since;
    this.#until = until;
  }

  window(now: Millis): Window {
    const index = Math.floor(now / this.#window);
    while (this.windows.length <= index) {
      const at = this.windows.length * this.#window;
      this.windows.push({ at, acks: new Histogram(), quick: 0, offered: 0, committed: 0, publishes: 0, shardCount: 0 });
    }
    return this.windows[index] as Window;
  }

  acknowledged(issuedAt: Millis, took: Millis): void {
    if (issuedAt < this.#since) return;
    this.acks.add(took);
    const window = this.window(issuedAt);
    window.acks.add(took);
    if (took <= SLOW_ACK_MS) window.quick++;
  }

  /** Somebody left after so long. The increment counts as one that took no less. */
  abandoned(issuedAt: Millis, after: Millis): void {
    if (issuedAt < this.#since) return;
    this.lost++;
    this.acknowledged(issuedAt, after);
  }

  /** Told of a publish before the counter is. */
  published(counter: Counter, next: Published, now: Millis): void {
    const previous = counter.published;
    this.publishes++;
    if (previous) this.closest = Math.min(this.closest, next.asOf - previous.asOf);
    this.window(now).publishes++;
    // The total says how many of the commits it has: some of a tick may be measured, and others not.
    let counted = next.total - (previous?.total ?? 0);
    while (counted > 0) {
      const [oldest] = counter.uncounted;
      if (!oldest) break;
      const writes = Math.min(oldest.writes, counted);
      if (oldest.at < this.#until) this.staleness.add(Math.max(now - oldest.at, 0), writes);
      counted -= writes;
      oldest.writes -= writes;
      if (oldest.writes === 0) counter.uncounted.shift();
    }
    const direction = Math.sign(next.shardCount - (previous?.shardCount ?? next.shardCount));
    if (direction === 0) return;
    if (direction > 0) this.grown++;
    else this.shrunk++;
    if (counter.direction === -direction) this.turns++;
    counter.direction = direction;
  }

  /** A second of the first counter. */
  provision(now: Millis, shardCount: number, needed: number): void {
    this.window(now).shardCount = shardCount;
    this.mostShards = Math.max(this.mostShards, shardCount);
    if (needed === 0) return;
    this.provided += shardCount;
    this.needed += Math.max(Math.ceil(needed), 1);
  }

  /**
   * How long after a step in the traffic acknowledgements are quick again and stay so: from then on, 95 of each
   * {@link ENOUGH} are, one after the other.
   *
   * @param until  the end of what the step began
   * @returns      `undefined` if they never are
   */
  absorbed(step: Millis, until: Millis): Millis | undefined {
    const after = this.windows.filter(({ at, acks }) => at >= step && at < until && acks.count > 0);
    const isSlow = (from: number) => {
      let [all, quick] = [0, 0];
      for (let i = from; i < after.length && all < ENOUGH; i++) {
        const window = after[i] as Window;
        all += window.acks.count;
        quick += window.quick;
      }
      return quick < 0.95 * all && all >= ENOUGH;
    };
    const slow = after.findLastIndex((_, from) => isSlow(from));
    const first = after[slow + 1];
    return first && first.at - step;
  }
}
