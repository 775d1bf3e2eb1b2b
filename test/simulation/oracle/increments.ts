/** Increments of single processes: each is in the sum exactly as often as its caller was told. */
import type { Change } from "../model/database.ts";
import { noncesOf } from "../model/marks.ts";
import { type Fields, isEqual, isMap, type Micros, type Value } from "../model/values.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

/** How long a replay must be recognized. */
const MARK_LIFETIME: Micros = 120_000_000;

/** What one process has added to one counter. */
class Ledger {
  committed = 0;
  acknowledged = 0;
  /** Calls that have not returned. */
  readonly pending = new Set<{ by: number }>();
  /** The amounts of calls that their signal has ended. */
  readonly ended: number[] = [];
}

/** A process's write of a shard. */
interface MarkedWrite {
  readonly process: Process;
  readonly counter: string;
  readonly by: number;
  readonly time: Micros;
}

interface Mark extends MarkedWrite {
  removedAt: Micros | undefined;
  /** Whether it was removed together with its counter. Replays cannot be recognized then. */
  isDeleted: boolean;
}

export class IncrementCheck {
  readonly #fail: Fail;
  readonly #ledgers = new Map<string, Map<Process, Ledger>>();
  readonly #marks = new Map<string, Mark>();
  /** Receipts that were deleted together with their counter. */
  readonly #deletedReceipts = new Set<string>();
  /** Whether the current commit replays one whose receipt was deleted. */
  #isReplay = false;
  /** Replays that counted again, or were rejected, because their mark had been removed when it was old enough. */
  unrecognizedReplays = 0;

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  /** A process calls for an increment. @returns records the acknowledgement, or that a signal has ended the call: then it may count or not */
  begin(process: Process, counter: string, by: number): { acknowledged(): void; ended(): void } {
    const ledger = this.#ledger(counter, process);
    const call = { by };
    ledger.pending.add(call);
    return {
      acknowledged: () => {
        ledger.pending.delete(call);
        ledger.acknowledged += by;
      },
      ended: () => {
        ledger.pending.delete(call);
        ledger.ended.push(by);
      },
    };
  }

  /** A commit of a process added an amount to the shards of a counter. */
  committed(process: Process, counter: string, by: number): void {
    if (this.#isReplay) this.unrecognizedReplays++;
    else this.#ledger(counter, process).committed += by;
    this.#isReplay = false;
  }

  /** A receipt was created or deleted. A replay is recognized until its receipt is deleted. */
  followReceipt({ before, after }: Change, isDeletion: boolean): void {
    if (isDeletion && before.fields) this.#deletedReceipts.add(after.path);
    if (after.fields && this.#deletedReceipts.has(after.path)) this.#isReplay = true;
  }

  /** A process wrote a shard. A replay may count again only if its mark was old or deleted with the counter. */
  followWrite(change: Change, write: MarkedWrite, isDeletion: boolean): void {
    const replayed = this.#followMarks(change, write, isDeletion);
    if (!replayed) return;
    const age = write.time - replayed.time;
    if (this.#mustRecognize(replayed, age)) {
      const { path } = change.after;
      this.#fail("I5", `${write.process.name} counted twice on ${path}, ${age / 1_000} ms after the first time`);
    }
    this.unrecognizedReplays++;
    this.#ledger(write.counter, write.process).committed -= write.by;
  }

  /**
   * A client's increment was rejected. Clients keep to the rules here, so the rejected write was a replay of a committed
   * one, and the mark had been removed before the client looked for it.
   */
  rejected(process: Process, counter: string, by: number): void {
    const marks = [...this.#marks.values()];
    const own = marks.find(
      (mark) => mark.process === process && mark.counter === counter && mark.by === by && mark.removedAt !== undefined,
    );
    if (!own?.removedAt) this.#fail("I5", `${process.name} was rejected with ${by} for ${counter}`);
    else if (this.#mustRecognize(own, own.removedAt - own.time)) {
      this.#fail("I5", `${process.name} was rejected with ${by} for ${counter}: its mark was removed too early`);
    } else own.removedAt = undefined;
    this.unrecognizedReplays++;
  }

  /** Every call has returned, unless its process died, and each counted exactly as often as its caller was told. */
  atEnd(): void {
    for (const [counter, ledgers] of this.#ledgers) {
      for (const [process, { committed, acknowledged, pending, ended }] of ledgers) {
        if (pending.size > 0 && !process.isDead) {
          this.#fail("completion", `calls of ${process.name} to increment ${counter} have not returned`);
        }
        const repeatable = this.#deletedMarks(process, counter).map(({ by }) => by);
        // The commit that an increment shares goes on; a decrement may have been ended before.
        const sure = process.isDead ? [] : ended.filter((by) => by > 0);
        const extra = committed - acknowledged - sure.reduce((sum, by) => sum + by, 0);
        const unsure = [...[...pending].map(({ by }) => by), ...ended.filter((by) => !sure.includes(by))];
        if (!subsetSums([...unsure, ...repeatable]).has(extra)) {
          const unknown = unsure.join(", ") || "nothing";
          this.#fail(
            "I5",
            `${process.name} added ${committed} to ${counter}; acknowledged: ${acknowledged}, outcome unknown: ${unknown}`,
          );
        }
      }
    }
  }

  /**
   * The marks that were deleted with the counter. If a client's call had no answer before that, the client finds no trace of its
   * increment, and makes another in the counter's next life.
   */
  #deletedMarks(process: Process, counter: string): Mark[] {
    const isOwn = (mark: Mark) => mark.process === process && mark.counter === counter && mark.isDeleted;
    return [...this.#marks.values()].filter(isOwn);
  }

  /** Whether a replay of a mark of this age must be recognized. */
  #mustRecognize({ isDeleted }: Mark, age: Micros): boolean {
    return !isDeleted && age <= MARK_LIFETIME;
  }

  /** @returns the mark of the first attempt, if this write is a replay that the rules accepted */
  #followMarks({ before, after }: Change, write: MarkedWrite, isDeletion: boolean): Mark | undefined {
    const [old, now] = [slotsOf(before.fields), slotsOf(after.fields)];
    for (const name of namesOfNew(after.path, old, now)) {
      const mark = this.#marks.get(name);
      if (!mark) continue;
      mark.isDeleted ||= isDeletion;
      mark.removedAt ??= write.time;
    }
    let replayed: Mark | undefined;
    for (const name of namesOfNew(after.path, now, old)) {
      const known = this.#marks.get(name);
      if (known?.process === write.process) replayed = known;
      else this.#marks.set(name, { ...write, removedAt: undefined, isDeleted: false });
    }
    return replayed;
  }

  #ledger(counter: string, process: Process): Ledger {
    const ledgers = this.#ledgers.get(counter) ?? new Map<Process, Ledger>();
    this.#ledgers.set(counter, ledgers);
    let ledger = ledgers.get(process);
    if (!ledger) {
      ledger = new Ledger();
      ledgers.set(process, ledger);
    }
    return ledger;
  }
}

/** The names of the marks in a shard's slots that are not in `others`. A nonce is short and unique only within its slot. */
function namesOfNew(path: string, slots: Fields, others: Fields): Set<string> {
  const names = new Set<string>();
  for (const [slot, value] of Object.entries(slots)) {
    // A write keeps the values that it does not change.
    if (value === others[slot]) continue;
    for (const nonce of without(noncesOf(value), noncesOf(others[slot]))) {
      names.add(`${path} ${slot} ${JSON.stringify(nonce)}`);
    }
  }
  return names;
}

/** Of a shard, or of the direct increments in a counter document. */
function slotsOf(fields: Fields | undefined): Fields {
  const { marks } = isMap(fields?.direct) ? (fields.direct as Fields) : (fields ?? {});
  return isMap(marks) ? (marks as Fields) : {};
}

/** The values that equal none of the others. Most are the same objects in the same places, since a write appends. */
function without(values: readonly Value[], others: readonly Value[]): readonly Value[] {
  return values.filter((value, i) => value !== others[i] && !others.some((other) => isEqual(other, value)));
}

function subsetSums(amounts: readonly number[]): Set<number> {
  let sums = new Set([0]);
  for (const by of amounts) sums = new Set([...sums, ...[...sums].map((sum) => sum + by)]);
  return sums;
}
