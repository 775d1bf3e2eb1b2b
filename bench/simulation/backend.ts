/**
 * The functions on the virtual clock: wake, measure, publish, tasks, sweep and folds, step by step as in `functions/src`, with
 * what each step costs and how long it takes. Every decision is the design's or the functions' own; here is only the order.
 *
 * One instance of each is modelled; that of `wake` has a memory for every counter. Nothing fails: that is what
 * `test/simulation` is for.
 */
import type { Config, Millis } from "../../functions/src/config.ts";
import type { MeasuredShard, Measurement } from "../../functions/src/measure.ts";
import { isPolled, judge, nextPoll, type Outlook, outlookOf } from "../../functions/src/outlook.ts";
import { isNews } from "../../functions/src/publish.ts";
import type { Clock } from "./clock.ts";
import type { Counter, CounterDocument } from "./counter.ts";
import type { Design } from "./design.ts";
import { foldInto } from "./folding.ts";
import type { Gauges } from "./gauges.ts";
import { configFor } from "./policy.ts";
import { configOf, type Settings } from "./settings.ts";

const SWEEP_EVERY: Millis = 300_000;

/** The counter document as somebody saw it; what is published over it is published on that condition. */
interface Seen {
  readonly document: CounterDocument | undefined;
  readonly version: number;
}

const NOTHING: Seen = { document: undefined, version: 0 };

/** What follows an aggregation; told what is then known of the counter. */
type Done = (outlook: Outlook, now: Millis) => void;

export class Backend {
  readonly #clock: Clock;
  readonly #design: Design;
  readonly #settings: Settings;
  readonly #config: Config;
  readonly #gauges: () => Gauges;
  readonly #unsettled = new Set<Counter>();

  constructor(clock: Clock, design: Design, settings: Settings, gauges: () => Gauges) {
    this.#clock = clock;
    this.#design = design;
    this.#settings = settings;
    this.#config = configOf(settings);
    this.#gauges = gauges;
    clock.at(SWEEP_EVERY, { run: (now) => this.#sweep(now) });
  }

  /** A shard was written; `undefined` for `base`. */
  committed(counter: Counter, shard: number | undefined, isCreation: boolean, at: Millis): void {
    if (!this.#design.triggers(shard, isCreation)) return;
    counter.bill.invocations++;
    // What is covered now still is when the event arrives.
    if (counter.memo && at <= counter.memo.coveredUntil) return;
    const isFirst = isCreation && shard === 0;
    this.#clock.at(at + this.#settings.eventLatency, { run: (now) => this.#wake(counter, at, now, isFirst) });
  }

  #wake(counter: Counter, at: Millis, now: Millis, isFirst = false): void {
    const { memo } = counter;
    const verdict = memo && judge(at, memo, now);
    if (verdict === "covered") return;
    if (counter.isAttended) {
      // Whatever is certain to count the latest of them counts them all.
      counter.waitingSince = Math.max(counter.waitingSince ?? at, at);
      return;
    }
    if (memo && typeof verdict === "object") {
      this.#schedule(counter, verdict.scheduleAt);
      counter.memo = { due: memo.due, coveredUntil: verdict.scheduleAt };
      return;
    }
    counter.isAttended = true;
    const isUnseen = memo === undefined && isFirst && this.#design.trustsCreation;
    const isAttended = memo !== undefined && memo.coveredUntil >= memo.due;
    const leave: Done = (outlook, left) => this.#leave(counter, outlook, left);
    this.#after((then) => {
      const seen = isUnseen ? NOTHING : this.#see(counter);
      const measured = isAttended ? undefined : this.#measure(counter, then);
      const outlook = seen.document && this.#outlookOf(seen.document);
      if (outlook && judge(at, outlook, then) === "covered") leave(outlook, then);
      else this.#aggregate(counter, seen, at, then, measured, leave);
    });
  }

  #leave(counter: Counter, outlook: Outlook, now: Millis): void {
    counter.memo = outlook;
    counter.isAttended = false;
    const { waitingSince } = counter;
    counter.waitingSince = undefined;
    if (waitingSince !== undefined) this.#wake(counter, waitingSince, now);
  }

  #see(counter: Counter): Seen {
    counter.bill["counter document"]++;
    const { document, version } = counter;
    return { document, version };
  }

  #measure(counter: Counter, now: Millis): Measurement {
    const measurement = counter.snapshot(now);
    counter.bill.measuring += Math.max(measurement.shards.length, 1);
    return measurement;
  }

  #outlookOf(document: CounterDocument): Outlook {
    return outlookOf(document, 0, configFor(document, this.#settings));
  }

  #isPolled(document: CounterDocument | undefined): boolean {
    return document !== undefined && isPolled(document, configFor(document, this.#settings));
  }

  /** Brings a counter up to date with what was wanted, or puts it off. */
  #aggregate(
    counter: Counter,
    seen: Seen,
    wanted: Millis,
    now: Millis,
    measured: Measurement | undefined,
    done: Done,
  ): void {
    const { document: previous } = seen;
    const before = previous && this.#outlookOf(previous);
    if (previous && before && wanted <= previous.asOf) {
      done(before, now);
      return;
    }
    if (before && now < before.due) {
      const promised = Math.max(before.due, wanted);
      this.#schedule(counter, promised);
      done({ due: before.due, coveredUntil: promised }, now);
      return;
    }
    if (!measured) {
      this.#after((then) => this.#aggregate(counter, seen, wanted, then, this.#measure(counter, then), done));
      return;
    }

    const next = this.#design.next(previous, measured, this.#settings);
    // Of a counter that was never published, nobody knows yet whether its shards are in use.
    const surplus = previous ? this.#design.surplus(next, measured, this.#settings) : [];
    if (surplus.length === 0) this.#decide(counter, seen, wanted, measured, done);
    else
      this.#fold(counter, surplus, () =>
        this.#after((then) => this.#decide(counter, seen, wanted, this.#measure(counter, then), done)),
      );
  }

  /** Publishes what was measured, if it is news, and sees to it that it is measured again. */
  #decide(counter: Counter, seen: Seen, wanted: Millis, measured: Measurement, done: Done): void {
    const { document: previous, version } = seen;
    const next = this.#design.next(previous, measured, this.#settings);
    const after = this.#outlookOf(next);
    const news = isNews(previous, next, measured);
    if (this.#isPolled(next) || this.#isPolled(previous)) {
      const due = previous && !news ? nextPoll(previous, next.asOf, this.#config) : after.due;
      this.#schedule(counter, Math.max(due, wanted));
    }
    if (!news) {
      const due = previous ? this.#outlookOf(previous).due : after.due;
      done({ due, coveredUntil: next.asOf }, next.asOf);
      return;
    }
    this.#after((now) => {
      if (counter.version !== version) {
        this.#after((then) => this.#aggregate(counter, this.#see(counter), wanted, then, undefined, done));
        return;
      }
      this.#gauges().published(counter, next, now);
      counter.document = next;
      counter.version++;
      counter.bill.publishing++;
      if (next.unsettled) this.#unsettled.add(counter);
      else this.#unsettled.delete(counter);
      done(after, now);
    });
  }

  #schedule(counter: Counter, due: Millis): void {
    counter.bill.tasks++;
    counter.tasks ??= new Set();
    if (counter.tasks.has(due)) return;
    counter.tasks.add(due);
    this.#clock.at(due + this.#settings.taskLatency, {
      run: () => {
        counter.tasks?.delete(due);
        counter.bill.invocations++;
        // A task's instance has no memory.
        this.#after((now) => this.#aggregate(counter, this.#see(counter), due, now, undefined, () => undefined));
      },
    });
  }

  /** Folds, then goes on. */
  #fold(counter: Counter, some: readonly MeasuredShard[], done: () => void): void {
    this.#after((now) => {
      const isCreation = counter.base.writes === undefined;
      const { deleted, batches } = foldInto(counter, some, now);
      if (this.#design.deletesTrigger) counter.bill.invocations += deleted;
      for (let batch = 0; batch < batches; batch++) this.committed(counter, undefined, isCreation && batch === 0, now);
      done();
    });
  }

  #sweep(now: Millis): void {
    this.#clock.at(now + SWEEP_EVERY, { run: (then) => this.#sweep(then) });
    this.#gauges().swept();
    for (const counter of [...this.#unsettled]) this.#settle(counter, now);
  }

  /** What the sweep does about one counter: looks whether it needs anything, and does it. */
  #settle(counter: Counter, now: Millis): void {
    const { document, version } = counter;
    if (!document) return;
    counter.bill.sweeps++;
    const need = this.#design.swept(document, now, configFor(document, this.#settings));
    if (need === "nothing") return;
    this.#after((then) => {
      const measured = this.#measure(counter, then);
      const fold = () => {
        const leftovers = this.#design.leftovers(counter.document ?? document, measured, this.#config);
        if (leftovers.length > 0) this.#fold(counter, leftovers, () => undefined);
      };
      if (need === "fold") fold();
      else this.#aggregate(counter, { document, version }, document.asOf + 1, then, measured, fold);
    });
  }

  /** Goes on after a call to the database. */
  #after(step: (now: Millis) => void): void {
    this.#clock.at(this.#clock.now + this.#settings.backendLatency, { run: step });
  }
}
