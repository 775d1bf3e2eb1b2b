/**
 * What is measured of a run: how long increments take to be acknowledged and to be in a published total, how many shards there
 * are compared with what the rate needs, and how often the shard count changes.
 *
 * An acknowledgement belongs to the window in which its increment was made, however late it comes: a slow window is one in which
 * users waited.
 */
import type { Millis, Published } from "../../functions/src/decisions.ts";
import type { Counter } from "./counter.ts";
import { Histogram } from "./histogram.ts";
import type { Scenario } from "./scenarios.ts";

/** An acknowledgement within this time is prompt. */
export const PROMPT: Millis = 1_000;

/** Increments of which a share of 95 % is no matter of chance. */
const ENOUGH = 500;

/** What happened from `at` until the next window. */
export interface Window {
  readonly at: Millis;
  acknowledged: number;
  /** Acknowledged within a second. */
  prompt: number;
  offered: number;
  committed: number;
  shardCount: number;
  /** On Enterprise, of the shard after each write: the sum of its bytes, the most, and the write units beyond the first. */
  shardBytes: number;
  mostShardBytes: number;
  moreUnits: number;
}

export class Metrics {
  readonly #scenario: Pick<Scenario, "window" | "lasts">;
  readonly #since: Millis;
  readonly windows: Window[] = [];
  readonly acknowledgements = new Histogram();
  /** From a commit to the publish of a total that has it. */
  readonly staleness = new Histogram();
  /** The shortest time between two totals of a counter. */
  shortestInterval: Millis = Number.POSITIVE_INFINITY;
  sweeps = 0;
  /** Polls that the sweep found missing. */
  overdue = 0;
  /** Changes of direction of the shard count: a shrink after a growth, or the reverse. */
  turns = 0;
  /** Of the first counter, summed over the seconds with traffic: published shard counts, and shards that the rate needs. */
  provided = 0;
  needed = 0;
  mostShards = 0;
  /** The most documents in `shards`. */
  mostDocuments = 0;
  /** By all instances, of all counters. */
  measurements = 0;
  /** Increments that users gave up. */
  abandonments = 0;

  /** @param since  earlier increments are left out */
  constructor(scenario: Pick<Scenario, "window" | "lasts">, since: Millis) {
    this.#scenario = scenario;
    this.#since = since;
  }

  window(now: Millis): Window {
    const index = Math.floor(now / this.#scenario.window);
    while (this.windows.length <= index) {
      const at = this.windows.length * this.#scenario.window;
      const sizes = { shardBytes: 0, mostShardBytes: 0, moreUnits: 0 };
      this.windows.push({ at, acknowledged: 0, prompt: 0, offered: 0, committed: 0, shardCount: 0, ...sizes });
    }
    return this.windows[index] as Window;
  }

  acknowledged(issuedAt: Millis, took: Millis): void {
    if (issuedAt < this.#since) return;
    this.acknowledgements.add(took);
    const window = this.window(issuedAt);
    window.acknowledged++;
    if (took <= PROMPT) window.prompt++;
  }

  /** A user left after this time. The increment counts as one that took as long. */
  abandoned(issuedAt: Millis, after: Millis): void {
    if (issuedAt < this.#since) return;
    this.abandonments++;
    this.acknowledged(issuedAt, after);
  }

  /** To be called before the counter has the publish. */
  published(counter: Counter, next: Published, now: Millis): void {
    const { published: previous, unpublished } = counter;
    if (previous) this.shortestInterval = Math.min(this.shortestInterval, next.asOf - previous.asOf);
    // The total tells how many commits it has: of those of one tick it may have some.
    let left = next.total - next.directCount - (previous ? previous.total - previous.directCount : 0);
    for (let [oldest] = unpublished; oldest && left > 0; [oldest] = unpublished) {
      const writes = Math.min(oldest.writes, left);
      // How stale retries after the end of the traffic are is left out.
      if (oldest.at < this.#scenario.lasts) this.staleness.add(Math.max(now - oldest.at, 0), writes);
      left -= writes;
      oldest.writes -= writes;
      if (oldest.writes === 0) unpublished.shift();
    }
    const direction = Math.sign(next.shardCount - (previous?.shardCount ?? next.shardCount));
    if (direction === 0) return;
    if (counter.direction === -direction) this.turns++;
    counter.direction = direction;
  }

  /** To be called for each second, with the first counter's shards. @param needed  shards that its rate needs */
  provision(now: Millis, shardCount: number, documents: number, needed: number): void {
    this.mostDocuments = Math.max(this.mostDocuments, documents);
    this.window(now).shardCount = shardCount;
    this.mostShards = Math.max(this.mostShards, shardCount);
    if (needed === 0) return;
    this.provided += shardCount;
    this.needed += Math.max(Math.ceil(needed), 1);
  }

  /**
   * How long after a step in the traffic acknowledgements are prompt for good: from then on 95 % of any {@link ENOUGH}
   * successive ones are.
   *
   * @param until  the end of the step's traffic
   * @returns      `undefined` if they never are
   */
  recovery(step: Millis, until: Millis): Millis | undefined {
    const after = this.windows.filter(({ at, acknowledged }) => at >= step && at < until && acknowledged > 0);
    const isSlow = (from: number) => {
      let [all, prompt] = [0, 0];
      for (let i = from; i < after.length && all < ENOUGH; i++) {
        const window = after[i] as Window;
        all += window.acknowledged;
        prompt += window.prompt;
      }
      return prompt < 0.95 * all && all >= ENOUGH;
    };
    const first = after[after.findLastIndex((_, from) => isSlow(from)) + 1];
    return first && first.at - step;
  }
}
