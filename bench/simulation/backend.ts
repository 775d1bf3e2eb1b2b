/**
 * The functions on the virtual clock: wake, measure, publish, tasks, sweep and folds, step by step as in `functions/src`, with
 * what each step costs and how long it takes. Every decision is the design's or the functions' own; here is only the order.
 *
 * One instance is modelled, with a memory for every counter. Nothing fails: that is what `test/simulation` is for.
 */
import type { Config, Millis } from "../../functions/src/config.ts";
import { foldable } from "../../functions/src/fold.ts";
import type { MeasuredShard } from "../../functions/src/measure.ts";
import { judge } from "../../functions/src/outlook.ts";
import { needOf } from "../../functions/src/sweep.ts";
import type { Clock } from "./clock.ts";
import type { Counter, CounterDocument, Snapshot } from "./counter.ts";
import type { Design } from "./design.ts";
import { foldInto } from "./folding.ts";
import type { Gauges } from "./gauges.ts";
import { configOf, type Settings } from "./settings.ts";

const SWEEP_EVERY: Millis = 300_000;

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
    const isNew = isCreation && shard === 0 && counter.base.writes === undefined;
    this.#clock.at(at + this.#settings.eventLatency, { run: (now) => this.#wake(counter, at, now, isNew) });
  }

  #wake(counter: Counter, at: Millis, now: Millis, isNew = false): void {
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
    const looksFirst = memo !== undefined && memo.coveredUntil >= memo.due;
    if (!(isNew && this.#design.trustsCreation)) counter.bill["counter document"]++;
    this.#after(({ now: then }) => {
      const measured = looksFirst ? undefined : this.#measure(counter, then);
      const outlook = counter.document && this.#design.outlook(counter.document, this.#config);
      if (outlook && judge(at, outlook, then) === "covered") {
        counter.memo = outlook;
        this.#leave(counter, then);
      } else this.#aggregate(counter, at, then, measured, (left) => this.#leave(counter, left));
    });
  }

  #leave(counter: Counter, now: Millis): void {
    counter.isAttended = false;
    const { waitingSince } = counter;
    counter.waitingSince = undefined;
    if (waitingSince !== undefined) this.#wake(counter, waitingSince, now);
  }

  #measure(counter: Counter, now: Millis): Snapshot {
    const measurement = counter.snapshot(now);
    counter.bill.measuring += Math.max(measurement.shards.length, 1);
    return measurement;
  }

  /** Measures and publishes, again if somebody else published meanwhile, or puts it off. The counter document was read just now. */
  #aggregate(
    counter: Counter,
    wanted: Millis,
    now: Millis,
    measured: Snapshot | undefined,
    done: (now: Millis) => void,
  ): void {
    const { document: previous, version } = counter;
    const before = previous && this.#design.outlook(previous, this.#config);
    if (previous && before && wanted <= previous.asOf) {
      counter.memo = before;
      done(now);
      return;
    }
    if (before && now < before.due) {
      const promised = Math.max(before.due, wanted);
      this.#schedule(counter, promised);
      counter.memo = { due: before.due, coveredUntil: promised };
      done(now);
      return;
    }
    if (!measured) {
      this.#after(({ now: then }) => this.#aggregate(counter, wanted, then, this.#measure(counter, then), done));
      return;
    }

    const next = this.#design.next(previous, measured, this.#settings);
    const toFold = this.#design.foldFirst(next, measured, this.#settings);
    if (toFold.length === 0) this.#publish(counter, wanted, previous, version, next, measured, done);
    else {
      // Then it is measured again, and published whatever is left to fold.
      this.#fold(counter, toFold, (then) => {
        const again = this.#measure(counter, then);
        const folded = this.#design.next(previous, again, this.#settings);
        this.#publish(counter, wanted, previous, version, folded, again, done);
      });
    }
  }

  #publish(
    counter: Counter,
    wanted: Millis,
    previous: CounterDocument | undefined,
    version: number,
    next: CounterDocument,
    measured: Snapshot,
    done: (now: Millis) => void,
  ): void {
    const design = this.#design;
    const after = design.outlook(next, this.#config);
    const news = design.isNews(previous, next, measured);
    const wasPolled = previous && design.isPolled(previous, this.#config);
    if (!news) {
      const again = previous && design.pollAgain(previous, next.asOf, this.#config);
      if (again !== undefined) this.#schedule(counter, again);
      if (again === undefined) counter.memo = after;
      done(next.asOf);
      return;
    }
    if (design.isPolled(next, this.#config) || wasPolled) this.#schedule(counter, Math.max(after.due, wanted));
    this.#after(({ now }) => {
      if (counter.version !== version) {
        counter.bill["counter document"]++;
        this.#after(({ now: then }) => this.#aggregate(counter, wanted, then, undefined, done));
        return;
      }
      counter.document = next;
      counter.version++;
      counter.memo = after;
      counter.bill.publishing++;
      if (next.unsettled) this.#unsettled.add(counter);
      else this.#unsettled.delete(counter);
      this.#gauges().published(counter, previous, next, now);
      const toFold = design.foldLater(next, measured, this.#settings);
      if (toFold.length > 0) this.#fold(counter, toFold, done);
      else done(now);
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
        counter.bill["counter document"]++;
        this.#after(({ now }) => this.#aggregate(counter, due, now, undefined, () => undefined));
      },
    });
  }

  /** Folds, then goes on. */
  #fold(counter: Counter, some: readonly MeasuredShard[], done: (now: Millis) => void): void {
    this.#after(({ now }) => {
      const { deleted, batches } = foldInto(counter, some, now);
      if (this.#design.deletesTrigger) counter.bill.invocations += deleted;
      for (let batch = 0; batch < batches; batch++) this.committed(counter, undefined, false, now);
      done(now);
    });
  }

  #sweep(now: Millis): void {
    this.#clock.at(now + SWEEP_EVERY, { run: (then) => this.#sweep(then) });
    this.#gauges().swept();
    for (const counter of [...this.#unsettled]) this.#settle(counter, now);
  }

  /** What the sweep does about one counter: looks whether it needs anything, and does it. */
  #settle(counter: Counter, now: Millis): void {
    const { document } = counter;
    if (!document) return;
    counter.bill.sweeps++;
    if (!this.#design.sweepFolds) return;
    const need = needOf(document, now, 0, this.#config);
    if (need === "resting") return;
    this.#after(({ now: then }) => {
      const measured = this.#measure(counter, then);
      const fold = () => {
        const shardCount = counter.document?.shardCount ?? this.#config.minShards;
        const toFold = foldable(measured, shardCount, this.#config);
        if (toFold.length > 0) this.#fold(counter, toFold, () => undefined);
      };
      if (need === "attended") fold();
      else this.#aggregate(counter, document.asOf + 1, then, measured, fold);
    });
  }

  /** Goes on after a call to the database. */
  #after(step: (clock: { readonly now: Millis }) => void): void {
    this.#clock.at(this.#clock.now + this.#settings.backendLatency, { run: () => step(this.#clock) });
  }
}
