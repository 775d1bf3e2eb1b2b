/**
 * The functions on the virtual clock: what wakes them, what an instance remembers, and the sweep. There is one instance of each;
 * that of `wake` remembers every counter. Nothing fails: failures are the subject of `test/simulation`.
 */
import { BASE_SHARD } from "../../core/src/index.ts";
import {
  type Cause,
  type Config,
  decide,
  isPollLost,
  type Millis,
  type Published,
  TRIGGER_SHARDS,
} from "../../functions/src/decisions.ts";
import { Aggregations, type Listener, MISSING } from "./aggregation.ts";
import type { Clock } from "./clock.ts";
import type { Counter } from "./counter.ts";
import type { Metrics } from "./metrics.ts";
import { configOf, type Settings } from "./settings.ts";

const SWEEP_EVERY: Millis = 300_000;

export class Backend implements Listener {
  readonly #clock: Clock;
  readonly #settings: Settings;
  readonly #config: Config;
  readonly #metrics: () => Metrics;
  readonly #aggregations: Aggregations;
  readonly #polled = new Set<Counter>();

  constructor(clock: Clock, settings: Settings, metrics: () => Metrics) {
    this.#clock = clock;
    this.#settings = settings;
    this.#config = configOf(settings);
    this.#metrics = metrics;
    this.#aggregations = new Aggregations(clock, settings, this);
    clock.at(SWEEP_EVERY, { run: (now) => this.#sweep(now) });
  }

  /** To be called for each write of a shard. Its creation triggers a function; of a few shards, so does every write. */
  committed(counter: Counter, shardId: string, isNew: boolean, at: Millis): void {
    if (!isNew && !TRIGGER_SHARDS.includes(shardId)) return;
    counter.bill.invocations++;
    const cause = { at, isPoll: false, shardId, isNew };
    this.#clock.at(at + this.#settings.eventLatency, { run: (now) => this.#wake(counter, cause, now) });
  }

  /** As `createWakeHandler` does. */
  #wake(counter: Counter, cause: Cause, now: Millis): void {
    if (this.#isAnswered(counter, cause, now)) return;
    if (counter.waiting) {
      counter.waiting.push(cause);
      return;
    }
    counter.waiting = [];
    const aggregate = (state = MISSING) =>
      this.#aggregations.aggregate(counter, state, cause, (outcome) => {
        const waiting = counter.waiting ?? [];
        counter.known = outcome;
        counter.waiting = undefined;
        for (const other of waiting) this.#wake(counter, other, this.#clock.now);
      });
    const isFirst = cause.isNew && cause.shardId === TRIGGER_SHARDS[0] && !counter.known;
    if (isFirst) aggregate();
    else this.#aggregations.read(counter, aggregate);
  }

  #isAnswered({ known }: Counter, cause: Cause, now: Millis): boolean {
    if (!known) return false;
    const step = decide(cause, { previous: known.published }, now, 0, this.#config);
    return step.do === "nothing" || (step.do === "schedule" && step.task.due <= (known.scheduled ?? 0));
  }

  published(counter: Counter, next: Published, now: Millis): void {
    this.#metrics().published(counter, next, now);
    if (next.nextPollAt !== null) this.#polled.add(counter);
    else this.#polled.delete(counter);
  }

  folded(counter: Counter, isCreation: boolean, now: Millis): void {
    this.committed(counter, BASE_SHARD, isCreation, now);
  }

  /** Reads the polled counters. No task is lost, so there is nothing to repair. */
  #sweep(now: Millis): void {
    this.#clock.at(now + SWEEP_EVERY, { run: (then) => this.#sweep(then) });
    this.#metrics().sweeps++;
    for (const counter of this.#polled) {
      counter.bill.sweeps++;
      if (counter.published && isPollLost(counter.published, now)) this.#metrics().overdue++;
    }
  }
}
