/**
 * The functions on the virtual clock: wake, measure, publish, tasks, sweep and folds, step by step as in `functions/src`, with
 * what each step costs and how long it takes. Every decision is the design's or the functions' own; here is only the order.
 *
 * One instance is modelled, with a memory for every counter. Nothing fails: that is what `test/simulation` is for.
 */
import type { Config, Millis } from "../../functions/src/config.ts";
import { toMillis } from "../../functions/src/counter.ts";
import { foldable } from "../../functions/src/fold.ts";
import { type MeasuredShard, shardIndex } from "../../functions/src/measure.ts";
import { judge } from "../../functions/src/outlook.ts";
import { needOf } from "../../functions/src/sweep.ts";
import type { Clock } from "./clock.ts";
import type { Counter, CounterDocument, Snapshot } from "./counter.ts";
import type { Design } from "./design.ts";
import type { Gauges } from "./gauges.ts";
import { configOf, type Settings } from "./settings.ts";

const SWEEP_EVERY: Millis = 300_000;
/** Shards per batch of a fold. */
const FOLD_BATCH = 200;

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
    else this.#fold(counter, toFold, (then) => this.#aggregateFolded(counter, wanted, then, previous, version, done));
  }

  /** After a fold everything is measured again, and published whatever is left to fold. */
  #aggregateFolded(
    counter: Counter,
    wanted: Millis,
    now: Millis,
    previous: CounterDocument | undefined,
    version: number,
    done: (now: Millis) => void,
  ): void {
    const measured = this.#measure(counter, now);
    const next = this.#design.next(previous, measured, this.#settings);
    this.#publish(counter, wanted, previous, version, next, measured, done);
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

  /** Moves shards into `base`, in batches; one in which a shard was written since fails. */
  #fold(counter: Counter, some: readonly MeasuredShard[], done: (now: Millis) => void): void {
    this.#after(({ now }) => {
      for (let start = 0; start < some.length; start += FOLD_BATCH) {
        const batch = some.slice(start, start + FOLD_BATCH).map(({ id, updatedAt }) => {
          return { shard: counter.shard(shardIndex(id) as number), seen: toMillis(updatedAt) };
        });
        if (batch.some(({ shard, seen }) => shard.writes === undefined || shard.updatedAt !== seen)) continue;
        for (const { shard } of batch) {
          counter.base.writes = (counter.base.writes ?? 0) + (shard.writes as number);
          shard.writes = undefined;
        }
        counter.base.updatedAt = now;
        counter.bill["folding: deletes"] += batch.length;
        counter.bill["folding: base"]++;
        if (this.#design.deletesTrigger) counter.bill.invocations += batch.length;
        this.committed(counter, undefined, false, now);
      }
      done(now);
    });
  }

  #sweep(now: Millis): void {
    this.#clock.at(now + SWEEP_EVERY, { run: (then) => this.#sweep(then) });
    this.#gauges().swept();
    for (const counter of [...this.#unsettled]) {
      const { document } = counter;
      if (!document) continue;
      counter.bill.sweeps++;
      if (!this.#design.sweepFolds) continue;
      const need = needOf(document, now, 0, this.#config);
      if (need === "resting") continue;
      const fold = (then: Millis) => {
        const measurement = this.#measure(counter, then);
        const shardCount = counter.document?.shardCount ?? this.#config.minShards;
        const toFold = foldable(measurement, shardCount, this.#config);
        if (toFold.length > 0) this.#fold(counter, toFold, () => undefined);
      };
      if (need === "attended") this.#after(({ now: then }) => fold(then));
      else
        this.#after(({ now: then }) => {
          const measured = this.#measure(counter, then);
          this.#aggregate(counter, document.asOf + 1, then, measured, () => {
            const shardCount = counter.document?.shardCount ?? this.#config.minShards;
            const toFold = foldable(measured, shardCount, this.#config);
            if (toFold.length > 0) this.#fold(counter, toFold, () => undefined);
          });
        });
    }
  }

  /** Goes on after a call to the database. */
  #after(step: (clock: { readonly now: Millis }) => void): void {
    this.#clock.at(this.#clock.now + this.#settings.backendLatency, { run: () => step(this.#clock) });
  }
}
