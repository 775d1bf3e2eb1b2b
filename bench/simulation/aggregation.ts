/**
 * Aggregations on the virtual clock: the steps that `decide` returns, one after the other as in `functions/src/aggregate.ts`,
 * with what each costs and how long it takes.
 */
import {
  type Cause,
  type Config,
  decide,
  historyWrites,
  type Measurement,
  type Millis,
  type Outcome,
  type Published,
  type ScheduledTask,
} from "../../functions/src/decisions.ts";
import type { Clock } from "./clock.ts";
import type { Counter } from "./counter.ts";
import { configOf, type Settings } from "./settings.ts";

/** The counter document as it was read. A publish over it has that as its precondition. */
export interface State {
  readonly published: Published | undefined;
  readonly version: number;
}

/** The state of a counter without a document. */
export const MISSING: State = { published: undefined, version: 0 };

export interface Listener {
  /** Called before the counter has the publish. */
  published(counter: Counter, next: Published, now: Millis): void;
  /** Called after a write of `base`. */
  folded(counter: Counter, isCreation: boolean, now: Millis): void;
}

interface Aggregation {
  readonly counter: Counter;
  readonly cause: Cause;
  readonly done: (outcome: Outcome) => void;
  current: State;
  measurement: Measurement | undefined;
  hasFolded: boolean;
}

export class Aggregations {
  readonly #clock: Clock;
  readonly #settings: Settings;
  readonly #config: Config;
  readonly #listener: Listener;

  constructor(clock: Clock, settings: Settings, listener: Listener) {
    this.#clock = clock;
    this.#settings = settings;
    this.#config = configOf(settings);
    this.#listener = listener;
  }

  read(counter: Counter, then: (state: State) => void): void {
    counter.bill["counter document"]++;
    this.#after(() => then({ published: counter.published, version: counter.version }));
  }

  aggregate(counter: Counter, current: State, cause: Cause, done: (outcome: Outcome) => void): void {
    this.#step({ counter, cause, done, current, measurement: undefined, hasFolded: false });
  }

  #step(aggregation: Aggregation): void {
    const { counter, cause, done, current, measurement, hasFolded } = aggregation;
    const previous = current.published;
    const step = decide(cause, { previous, measurement, hasFolded }, this.#clock.now, 0, this.#config);
    switch (step.do) {
      case "nothing":
        done({ published: previous });
        break;
      case "schedule":
        this.#schedule(counter, step.task);
        done({ published: previous, scheduled: step.task.due });
        break;
      case "wait":
        this.#clock.at(this.#clock.now + step.duration, { run: () => this.#measure(aggregation) });
        break;
      case "measure":
        this.#measure(aggregation);
        break;
      case "fold":
        this.#after((now) => {
          const { batches, isCreation } = counter.fold(step.fromIndex, step.quietSince, now);
          for (let batch = 0; batch < batches; batch++) this.#listener.folded(counter, isCreation && batch === 0, now);
          aggregation.hasFolded = true;
          this.#measure(aggregation);
        });
        break;
      case "publish":
        for (const task of step.tasks) this.#schedule(counter, task);
        this.#after((now) => this.#publish(aggregation, step.next, now));
    }
  }

  #measure(aggregation: Aggregation): void {
    const { counter, current } = aggregation;
    this.#after((now) => {
      aggregation.measurement = counter.measure(now, current.published?.shardDocuments ?? 0, this.#settings.index > 0);
      this.#step(aggregation);
    });
  }

  #publish(aggregation: Aggregation, next: Published, now: Millis): void {
    const { counter, current, done } = aggregation;
    if (counter.version !== current.version) {
      this.read(counter, (state) => {
        aggregation.current = state;
        aggregation.measurement = undefined;
        this.#step(aggregation);
      });
      return;
    }
    this.#listener.published(counter, next, now);
    counter.bill.publishing++;
    counter.bill.history += historyWrites(counter.published, next, this.#config).length;
    counter.published = next;
    counter.version++;
    done({ published: next });
  }

  #schedule(counter: Counter, { due, isPoll }: ScheduledTask): void {
    counter.bill.tasks++;
    counter.tasks ??= new Set();
    const name = `${due} ${isPoll}`;
    if (counter.tasks.has(name)) return;
    counter.tasks.add(name);
    this.#clock.at(due + this.#settings.taskLatency, {
      run: () => {
        counter.tasks?.delete(name);
        counter.bill.invocations++;
        this.read(counter, (state) => this.aggregate(counter, state, { at: due, isPoll }, () => undefined));
      },
    });
  }

  /** Continues after a call of the database. */
  #after(step: (now: Millis) => void): void {
    this.#clock.at(this.#clock.now + this.#settings.backendLatency, { run: step });
  }
}
