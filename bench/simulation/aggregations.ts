/**
 * An aggregation on the virtual clock: measure, fold, decide, publish, and the task that does it later, step by step as in
 * `functions/src/aggregate.ts`, with what each step costs and how long it takes. Every decision is the design's or the
 * functions' own; here is only the order.
 */
import type { Config, Millis } from "../../functions/src/config.ts";
import { type Published, toMillis } from "../../functions/src/counter.ts";
import { type Wanted, wakes } from "../../functions/src/demand.ts";
import type { MeasuredShard, Measurement } from "../../functions/src/measure.ts";
import { isPolled, nextPoll, type Outlook, outlookOf } from "../../functions/src/outlook.ts";
import { isNews } from "../../functions/src/publish.ts";
import type { Clock } from "./clock.ts";
import type { Counter } from "./counter.ts";
import type { Design } from "./design.ts";
import { foldInto } from "./folding.ts";
import { unhurried } from "./policy.ts";
import { configOf, type Settings } from "./settings.ts";

/** The counter document as somebody saw it; what is published over it is published on that condition. */
export interface Seen {
  readonly document: Published | undefined;
  readonly version: number;
}

/** What follows an aggregation; told what is then known of the counter. */
export type Done = (outlook: Outlook, now: Millis) => void;

/** Whom an aggregation tells. */
export interface Listener {
  /** Of a publish, before the counter has it. */
  published(counter: Counter, next: Published, now: Millis): void;
  /** Of a fold: `base` was written so many times. */
  folded(counter: Counter, isCreation: boolean, deleted: number, batches: number, now: Millis): void;
}

export class Aggregations {
  readonly #clock: Clock;
  readonly #design: Design;
  readonly #settings: Settings;
  readonly #config: Config;
  readonly #listener: Listener;

  constructor(clock: Clock, design: Design, settings: Settings, listener: Listener) {
    this.#clock = clock;
    this.#design = design;
    this.#settings = settings;
    this.#config = configOf(settings);
    this.#listener = listener;
  }

  see(counter: Counter): Seen {
    counter.bill["counter document"]++;
    const { document, version } = counter;
    return { document, version };
  }

  measure(counter: Counter, now: Millis): Measurement {
    const measurement = counter.snapshot(now);
    counter.bill.measuring += Math.max(measurement.shards.length, 1);
    return measurement;
  }

  outlookOf(document: Published): Outlook {
    return outlookOf(unhurried(document, this.#settings), 0, this.#config);
  }

  #isPolled(document: Published | undefined): boolean {
    return document !== undefined && isPolled(unhurried(document, this.#settings), this.#config);
  }

  /** Brings a counter up to date with what was wanted, or puts it off. */
  aggregate(
    counter: Counter,
    seen: Seen,
    wanted: Wanted,
    now: Millis,
    measured: Measurement | undefined,
    done: Done,
  ): void {
    const { document: previous } = seen;
    const before = previous && this.outlookOf(previous);
    if (previous && before && wanted.committedAt <= previous.asOf) {
      done(before, now);
      return;
    }
    if (before && now < before.due) {
      const promised = Math.max(before.due, wanted.committedAt);
      this.schedule(counter, promised);
      done({ due: before.due, coveredUntil: promised }, now);
      return;
    }
    if (!measured) {
      this.after((then) => this.aggregate(counter, seen, wanted, then, this.measure(counter, then), done));
      return;
    }

    const next = this.#design.next(previous, measured, this.#settings, undefined);
    // Of a counter that was never published, nobody knows yet whether its shards are in use.
    const surplus = previous ? this.#design.surplus(next, measured, this.#settings) : [];
    if (surplus.length === 0) this.#decide(counter, seen, wanted, measured, done);
    else
      this.fold(counter, surplus, () =>
        this.after((then) => this.#decide(counter, seen, wanted, this.measure(counter, then), done)),
      );
  }

  /** Publishes what was measured, if it is news, and sees to it that it is measured again. */
  #decide(counter: Counter, seen: Seen, wanted: Wanted, measured: Measurement, done: Done): void {
    const { document: previous, version } = seen;
    const slept = previous && unhurried(previous, this.#settings);
    const wokenAt = wakes(slept, wanted, toMillis(measured.asOf), this.#config) ? wanted.committedAt : undefined;
    const next = this.#design.next(previous, measured, this.#settings, wokenAt);
    const after = this.outlookOf(next);
    const news = isNews(previous, next, measured);
    if (this.#isPolled(next) || this.#isPolled(previous)) {
      const due = previous && !news ? nextPoll(previous, next.asOf, this.#config) : after.due;
      this.schedule(counter, Math.max(due, wanted.committedAt));
    }
    if (!news) {
      const due = previous ? this.outlookOf(previous).due : after.due;
      done({ due, coveredUntil: next.asOf }, next.asOf);
      return;
    }
    this.after((now) => {
      if (counter.version !== version) {
        this.after((then) => this.aggregate(counter, this.see(counter), wanted, then, undefined, done));
        return;
      }
      this.#listener.published(counter, next, now);
      counter.document = next;
      counter.version++;
      counter.bill.publishing++;
      done(after, now);
    });
  }

  schedule(counter: Counter, due: Millis): void {
    counter.bill.tasks++;
    counter.tasks ??= new Set();
    if (counter.tasks.has(due)) return;
    counter.tasks.add(due);
    this.#clock.at(due + this.#settings.taskLatency, {
      run: () => {
        counter.tasks?.delete(due);
        counter.bill.invocations++;
        // A task's instance has no memory.
        this.after((now) =>
          this.aggregate(counter, this.see(counter), { committedAt: due }, now, undefined, () => undefined),
        );
      },
    });
  }

  /** Folds, then goes on. */
  fold(counter: Counter, some: readonly MeasuredShard[], done: () => void): void {
    this.after((now) => {
      const isCreation = counter.base.writes === undefined;
      const { deleted, batches } = foldInto(counter, some, now);
      this.#listener.folded(counter, isCreation, deleted, batches, now);
      done();
    });
  }

  /** Goes on after a call to the database. */
  after(step: (now: Millis) => void): void {
    this.#clock.at(this.#clock.now + this.#settings.backendLatency, { run: step });
  }
}
