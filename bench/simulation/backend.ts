/**
 * The functions on the virtual clock: what wakes them, the steps that `decide` returns, one after the other as in
 * `functions/src/counter/aggregate.ts`, with the cost and duration of each, and the sweep. Each instance that
 * receives events remembers every counter. Nothing fails: failures are the subject of `test/simulation`.
 */
import { BASE_SHARD } from "../../core/src/index.ts";
import {
  type AggregateResult,
  type Cause,
  CLEANING,
  type CounterConfig,
  type Direct,
  decide,
  directChange,
  isAnswered,
  isListedFor,
  isPollLost,
  LONGEST_SUM,
  MAX_LISTED_SHARDS,
  type Measurement,
  type Millis,
  type Published,
  type ScheduledTask,
  shardsToClean,
  TRIGGER_SHARDS,
} from "../../functions/src/decisions.ts";
import { historyWrites } from "../../functions/src/features/history/historyPlan.ts";
import type { Clock } from "./clock.ts";
import type { Counter, Instance } from "./counter.ts";
import { configOf, type Settings } from "./settings.ts";
import { commitDelay, type World } from "./world.ts";

const SWEEP_EVERY: Millis = 300_000;

/** The counter document as it was read, which is the precondition of a publish over it; without a document, version 0. */
interface State {
  readonly published: Published | undefined;
  readonly direct: Direct | undefined;
  readonly updatedAt: Millis;
  readonly version: number;
}

interface Aggregation {
  readonly counter: Counter;
  readonly cause: Cause;
  readonly done: (outcome: AggregateResult) => void;
  current: State;
  measurement: Measurement | undefined;
  folded: { readonly lastWritten: Millis | undefined } | undefined;
}

export class Backend {
  readonly #world: World;
  readonly #clock: Clock;
  readonly #settings: Settings;
  readonly #config: CounterConfig;
  readonly #polled = new Set<Counter>();

  constructor(world: World) {
    this.#world = world;
    this.#clock = world.clock;
    this.#settings = world.settings;
    this.#config = configOf(world.settings);
    this.#clock.at(SWEEP_EVERY, { run: (now) => this.#sweep(now) });
  }

  /** To be called for each write of a shard. Its creation triggers a function; of a few shards, so does every write. */
  committed(counter: Counter, shardId: string, isNew: boolean, at: Millis): void {
    if (!isNew && !TRIGGER_SHARDS.includes(shardId)) return;
    counter.bill.invocations++;
    const cause = { at, isPoll: false, shardId, isNew };
    const { eventLatency, instances } = this.#settings;
    const instance = counter.instance(instances > 1 ? Math.floor(this.#world.random() * instances) : 0);
    this.#clock.at(at + eventLatency, { run: (now) => this.#wake(counter, instance, cause, now) });
  }

  /** As `createWakeHandler` does. */
  #wake(counter: Counter, instance: Instance, cause: Cause, now: Millis): void {
    if (instance.known && isAnswered(cause, instance.known, now, 0, this.#config)) return;
    if (instance.waiting) {
      instance.waiting.push(cause);
      return;
    }
    instance.waiting = [];
    this.#read(counter, (state) =>
      this.#aggregate(counter, state, cause, (outcome) => {
        const waiting = instance.waiting ?? [];
        instance.known = outcome;
        instance.waiting = undefined;
        for (const other of waiting) this.#wake(counter, instance, other, this.#clock.now);
      }),
    );
  }

  /** Reads the polled counters. No task is lost, so there is nothing to repair. */
  #sweep(now: Millis): void {
    this.#clock.at(now + SWEEP_EVERY, { run: (then) => this.#sweep(then) });
    this.#world.metrics.sweeps++;
    for (const counter of this.#polled) {
      counter.bill.sweeps++;
      if (counter.published && isPollLost(counter.published, now)) this.#world.metrics.overdue++;
    }
  }

  #read(counter: Counter, then: (state: State) => void): void {
    counter.bill["counter document"]++;
    this.#after(() => {
      const { published, publishedAt: updatedAt, version } = counter;
      then({ published, direct: counter.parsedDirect(), updatedAt, version });
    });
  }

  #reread(aggregation: Aggregation): void {
    this.#read(aggregation.counter, (state) => {
      // If clients alone have written the document, the measurement still holds.
      if (state.published !== aggregation.current.published) aggregation.measurement = undefined;
      aggregation.current = state;
      this.#step(aggregation);
    });
  }

  #aggregate(counter: Counter, current: State, cause: Cause, done: (outcome: AggregateResult) => void): void {
    this.#step({ counter, cause, done, current, measurement: undefined, folded: undefined });
  }

  #step(aggregation: Aggregation): void {
    const { counter, cause, done, current, measurement, folded } = aggregation;
    const { published: previous, direct, updatedAt } = current;
    const step = decide(cause, { previous, direct, updatedAt, measurement, folded }, this.#clock.now, 0, this.#config);
    switch (step.do) {
      case "nothing":
        done({ published: previous });
        break;
      case "schedule":
        this.#schedule(counter, step.task);
        done({ published: previous, scheduled: step.task.due });
        break;
      case "reread":
        this.#clock.at(this.#clock.now + step.duration, { run: () => this.#reread(aggregation) });
        break;
      case "wait":
        this.#clock.at(this.#clock.now + step.duration, { run: () => this.#measure(aggregation) });
        break;
      case "measure":
        this.#measure(aggregation);
        break;
      case "fold":
        this.#commit((now) => {
          const { batches, isCreation, lastWritten } = counter.fold(step.fromIndex, step.quietSince, now);
          for (let batch = 0; batch < batches; batch++) {
            this.committed(counter, BASE_SHARD, isCreation && batch === 0, now);
          }
          aggregation.folded = { lastWritten };
          this.#measure(aggregation);
        });
        break;
      case "publish":
        for (const task of step.tasks) this.#schedule(counter, task);
        this.#commit((now) => this.#offer(aggregation, step.next, now));
    }
  }

  #measure(aggregation: Aggregation): void {
    const { counter, current } = aggregation;
    this.#world.metrics.measurements++;
    const { index, aggregationSlowdown, enterprise } = this.#settings;
    const listing = enterprise > 0 ? "scan" : "list";
    const { shardDocuments: documents = 0, slowSince } = current.published ?? {};
    const found = (measurement: Measurement) => {
      aggregation.measurement = measurement;
      this.#step(aggregation);
    };
    this.#after((now) => {
      if (isListedFor(slowSince, now)) return found({ ...counter.measure(now, documents, listing), slowSince });
      const isAggregated = index > 0 && documents > MAX_LISTED_SHARDS;
      const slowdown = isAggregated ? counter.deletedEntries.slowdown(aggregationSlowdown, now) : 0;
      // What a slow query finds is as old as its beginning.
      const sum = counter.measure(now, documents, index > 0 && enterprise === 0 ? "index" : listing);
      if (slowdown === 0) found(sum);
      else if (slowdown <= LONGEST_SUM) this.#clock.at(now + slowdown, { run: () => found(sum) });
      else {
        const list = (then: Millis) => found({ ...counter.measure(then, documents, listing), slowSince: then });
        this.#clock.at(now + LONGEST_SUM, { run: list });
      }
    });
  }

  /** Waits in line for the counter document, which clients write, too. A publish over an older version writes nothing. */
  #offer(aggregation: Aggregation, next: Published, now: Millis): void {
    const { counter, current } = aggregation;
    const mayWait = this.#settings.direct > 0 && counter.version === current.version;
    const wait = mayWait ? counter.document.offer(now, this.#settings) : 0;
    if (wait === 0) this.#publish(aggregation, next, now);
    else if (wait !== undefined) this.#clock.at(now + wait, { run: (then) => this.#publish(aggregation, next, then) });
    else this.#clock.at(now + this.#settings.refusedAfter, { run: () => this.#reread(aggregation) });
  }

  #publish(aggregation: Aggregation, next: Published, now: Millis): void {
    const { counter, current, done } = aggregation;
    if (counter.version !== current.version) {
      this.#reread(aggregation);
      return;
    }
    this.#world.metrics.published(counter, next, now);
    if (next.nextPollAt !== null) this.#polled.add(counter);
    else this.#polled.delete(counter);
    counter.bill.publishing++;
    const cleaning = CLEANING[this.#settings.enterprise > 0 ? "enterprise" : "standard"];
    const written = [counter.published?.writes ?? 0, next.writes] as const;
    for (const id of shardsToClean(cleaning, ...written, next.shardCount, this.#world.randomLook))
      counter.look(Number(id), now);
    counter.bill.history += historyWrites(counter.published, next, this.#config).length;
    const change = directChange({ direct: current.direct }, next, this.#config);
    if (change) counter.publishDirect(change);
    counter.published = next;
    counter.publishedAt = now;
    counter.version++;
    done({ published: next });
  }

  #schedule(counter: Counter, { due, kind }: ScheduledTask): void {
    counter.bill.tasks++;
    counter.tasks ??= new Set();
    const name = `${due} ${kind}`;
    if (counter.tasks.has(name)) return;
    counter.tasks.add(name);
    this.#clock.at(due + this.#settings.taskLatency, {
      run: () => {
        counter.bill.invocations++;
        this.#read(counter, (state) =>
          this.#aggregate(counter, state, { at: due, isPoll: kind === "poll" }, () => undefined),
        );
      },
    });
  }

  /** Continues after a call of the database. @param delay  how much longer than usual it takes */
  #after(step: (now: Millis) => void, delay: Millis = 0): void {
    this.#clock.at(this.#clock.now + this.#settings.backendLatency + delay, { run: step });
  }

  /** Continues when the database makes a commit. */
  #commit(step: (now: Millis) => void): void {
    this.#after(step, commitDelay(this.#world, this.#clock.now));
  }
}
