/**
 * The functions on the virtual clock: what wakes them, what an instance remembers, and the sweep. What they then do is in
 * `aggregations`.
 *
 * One instance of each is modelled; that of `wake` has a memory for every counter. Nothing fails: that is what
 * `test/simulation` is for.
 */
import { BASE_SHARD } from "../../core/src/index.ts";
import type { Config, Millis } from "../../functions/src/config.ts";
import type { Published } from "../../functions/src/counter.ts";
import type { Wanted } from "../../functions/src/demand.ts";
import { WOKEN } from "../../functions/src/measure.ts";
import { judge, type Outlook } from "../../functions/src/outlook.ts";
import { Aggregations, type Done, type Listener, type Seen } from "./aggregations.ts";
import type { Clock } from "./clock.ts";
import type { Counter } from "./counter.ts";
import type { Design } from "./design.ts";
import type { Gauges } from "./gauges.ts";
import { unhurried } from "./policy.ts";
import { configOf, type Settings } from "./settings.ts";

const SWEEP_EVERY: Millis = 300_000;

const NOTHING: Seen = { document: undefined, version: 0 };

export class Backend implements Listener {
  readonly #clock: Clock;
  readonly #design: Design;
  readonly #settings: Settings;
  readonly #config: Config;
  readonly #gauges: () => Gauges;
  readonly #aggregations: Aggregations;
  readonly #unsettled = new Set<Counter>();

  constructor(clock: Clock, design: Design, settings: Settings, gauges: () => Gauges) {
    this.#clock = clock;
    this.#design = design;
    this.#settings = settings;
    this.#config = configOf(settings);
    this.#gauges = gauges;
    this.#aggregations = new Aggregations(clock, design, settings, this);
    clock.at(SWEEP_EVERY, { run: (now) => this.#sweep(now) });
  }

  /** A shard was written; `undefined` for `base`. */
  committed(counter: Counter, shard: number | undefined, isCreation: boolean, at: Millis): void {
    if (!this.#design.triggers(shard, isCreation)) return;
    counter.bill.invocations++;
    // What is covered now still is when the event arrives.
    if (counter.memo && at <= counter.memo.coveredUntil) return;
    const wanted = { committedAt: at, shardId: shard === undefined ? BASE_SHARD : `${shard}`, isNew: isCreation };
    this.#clock.at(at + this.#settings.eventLatency, { run: (now) => this.#wake(counter, wanted, now) });
  }

  #wake(counter: Counter, wanted: Wanted, now: Millis): void {
    const { memo } = counter;
    const at = wanted.committedAt;
    const verdict = memo && judge(at, memo, now);
    if (verdict === "covered") return;
    if (counter.isAttended) {
      // Whatever is certain to count the latest of them counts them all.
      if (at > (counter.waiting?.committedAt ?? 0)) counter.waiting = wanted;
      return;
    }
    if (memo && typeof verdict === "object") {
      this.#aggregations.schedule(counter, verdict.scheduleAt);
      counter.memo = { due: memo.due, coveredUntil: verdict.scheduleAt };
      return;
    }
    counter.isAttended = true;
    const isFirst = wanted.isNew === true && wanted.shardId === WOKEN[0];
    const isUnseen = memo === undefined && isFirst && this.#design.trustsCreation;
    const isAttended = memo !== undefined && memo.coveredUntil >= memo.due;
    const leave: Done = (outlook, left) => this.#leave(counter, outlook, left);
    this.#aggregations.after((then) => {
      const seen = isUnseen ? NOTHING : this.#aggregations.see(counter);
      const measured = isAttended ? undefined : this.#aggregations.measure(counter, then);
      const outlook = seen.document && this.#aggregations.outlookOf(seen.document);
      if (outlook && judge(at, outlook, then) === "covered") leave(outlook, then);
      else this.#aggregations.aggregate(counter, seen, wanted, then, measured, leave);
    });
  }

  #leave(counter: Counter, outlook: Outlook, now: Millis): void {
    counter.memo = outlook;
    counter.isAttended = false;
    const { waiting } = counter;
    counter.waiting = undefined;
    if (waiting) this.#wake(counter, waiting, now);
  }

  published(counter: Counter, next: Published, now: Millis): void {
    this.#gauges().published(counter, next, now);
    if (next.unsettled) this.#unsettled.add(counter);
    else this.#unsettled.delete(counter);
  }

  folded(counter: Counter, isCreation: boolean, deleted: number, batches: number, now: Millis): void {
    if (this.#design.deletesTrigger) counter.bill.invocations += deleted;
    for (let batch = 0; batch < batches; batch++) this.committed(counter, undefined, isCreation && batch === 0, now);
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
    const need = this.#design.swept(unhurried(document, this.#settings), now, this.#config);
    if (need === "nothing") return;
    this.#aggregations.after((then) => {
      const measured = this.#aggregations.measure(counter, then);
      const fold = () => {
        const leftovers = this.#design.leftovers(counter.document ?? document, measured, this.#config);
        if (leftovers.length > 0) this.#aggregations.fold(counter, leftovers, () => undefined);
      };
      if (need === "fold") fold();
      else {
        const wanted = { committedAt: document.asOf + 1 };
        this.#aggregations.aggregate(counter, { document, version }, wanted, then, measured, fold);
      }
    });
  }
}
