/** Increments, one by one: each is in the sum as often as whoever made it was told. */
import type { Change } from "../model/database.ts";
import { noncesOf } from "../model/rules.ts";
import { type Fields, isMap, type Micros } from "../model/values.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

/** For so long a replay must be told from an increment. */
const MARK_LIFETIME: Micros = 120_000_000;

/** What a process was asked to add to a counter, and what has come of it. */
class Ledger {
  landed = 0;
  acknowledged = 0;
  readonly unknown = new Set<{ by: number }>();
}

/** A client's write of a shard. */
interface MarkedWrite {
  readonly process: Process;
  readonly counter: string;
  readonly by: number;
  readonly time: Micros;
}

interface Mark extends MarkedWrite {
  /** Since when it is gone, if it is. */
  goneAt: Micros | undefined;
  /** Whether it went because an operator deleted the counter: then nobody can tell any more. */
  isDeleted: boolean;
}

export class Increments {
  readonly #fail: Fail;
  readonly #ledgers = new Map<string, Map<Process, Ledger>>();
  readonly #marks = new Map<string, Mark>();
  /** Receipts of servers that were deleted with their counter. */
  readonly #deletedReceipts = new Set<string>();
  /** Whether the commit under way repeats one whose receipt was deleted. */
  #isRepeated = false;
  /** Replays that counted again, or were reported as refused, because their mark had gone: it was older than marks have to be. */
  unrecognized = 0;

  constructor(fail: Fail) {
    this.#fail = fail;
  }

  /** A process is asked to add something. @returns to be called when it says that it counts */
  ask(process: Process, counter: string, by: number): () => void {
    const ledger = this.#ledger(counter, process);
    const asked = { by };
    ledger.unknown.add(asked);
    return () => {
      ledger.unknown.delete(asked);
      ledger.acknowledged += by;
    };
  }

  /** A commit of a process added something to the shards of a counter. */
  landed(process: Process, counter: string, by: number): void {
    if (this.#isRepeated) this.unrecognized++;
    else this.#ledger(counter, process).landed += by;
    this.#isRepeated = false;
  }

  /** A receipt came or went. What it stands for is known once, until it is deleted. */
  receipt({ before, after }: Change, isDeletion: boolean): void {
    if (isDeletion && before.fields) this.#deletedReceipts.add(after.path);
    if (after.fields && this.#deletedReceipts.has(after.path)) this.#isRepeated = true;
  }

  /** A process wrote a shard. A replay that could not be told from an increment is nobody's fault. */
  wrote(change: Change, write: MarkedWrite, isDeletion: boolean): void {
    const replayed = this.#followMarks(change, write, isDeletion);
    if (!replayed) return;
    const age = write.time - replayed.time;
    if (this.#mustKnow(replayed, age)) {
      const { path } = change.after;
      this.#fail("I5", `${write.process.name} counted twice on ${path}, ${age / 1_000} ms after the first time`);
    }
    this.unrecognized++;
    this.#ledger(write.counter, write.process).landed -= write.by;
  }

  /**
   * A client was told that its increment was refused. Nobody breaks the rules here, so it is a replay, and the first
   * attempt counted: its mark must have gone before it could be found.
   */
  refused(process: Process, counter: string, by: number): void {
    const marks = [...this.#marks.values()];
    const own = marks.find(
      (mark) => mark.process === process && mark.counter === counter && mark.by === by && mark.goneAt !== undefined,
    );
    if (!own?.goneAt) this.#fail("I5", `${process.name} was refused ${by} for ${counter}`);
    else if (this.#mustKnow(own, own.goneAt - own.time)) {
      this.#fail("I5", `${process.name} was refused ${by} for ${counter}: its mark went too early`);
    } else own.goneAt = undefined;
    this.unrecognized++;
  }

  /** Nobody does anything any more: every increment counted exactly as often as its caller was told. */
  atEnd(): void {
    for (const [counter, ledgers] of this.#ledgers) {
      for (const [process, { landed, acknowledged, unknown }] of ledgers) {
        const extra = landed - acknowledged;
        if (unknown.size > 0 && !process.isDead) {
          this.#fail("answers", `${process.name} never heard what came of its increments of ${counter}`);
        }
        if (!subsetSums([...unknown].map(({ by }) => by)).has(extra)) {
          const open = [...unknown].map(({ by }) => by).join(", ") || "nothing";
          this.#fail(
            "I5",
            `${process.name} added ${landed} to ${counter}; acknowledged: ${acknowledged}, of unknown outcome: ${open}`,
          );
        }
      }
    }
  }

  /** Whether a mark of this age must still be there. */
  #mustKnow({ isDeleted }: Mark, age: Micros): boolean {
    return !isDeleted && age <= MARK_LIFETIME;
  }

  /** @returns the mark that this write left before, if it is a replay that was not refused */
  #followMarks({ before, after }: Change, write: MarkedWrite, isDeletion: boolean): Mark | undefined {
    const [old, marks] = [before, after].map(({ path, fields }) => marksOf(path, fields)) as [Set<string>, Set<string>];
    for (const name of old) {
      const mark = this.#marks.get(name);
      if (!mark || marks.has(name)) continue;
      mark.isDeleted ||= isDeletion;
      mark.goneAt ??= write.time;
    }
    let replayed: Mark | undefined;
    for (const name of marks) {
      if (old.has(name)) continue;
      const known = this.#marks.get(name);
      if (known?.process === write.process) replayed = known;
      else this.#marks.set(name, { ...write, goneAt: undefined, isDeleted: false });
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

/** The marks of a shard. Nonces are short: they are told apart within their window. */
function marksOf(path: string, fields: Fields | undefined): Set<string> {
  const marks = isMap(fields?.marks) ? (fields.marks as Fields) : {};
  const names = Object.entries(marks).flatMap(([name, mark]) => {
    return noncesOf(mark).map((nonce) => `${path} ${name} ${JSON.stringify(nonce)}`);
  });
  return new Set(names);
}

function subsetSums(amounts: readonly number[]): Set<number> {
  let sums = new Set([0]);
  for (const by of amounts) sums = new Set([...sums, ...[...sums].map((sum) => sum + by)]);
  return sums;
}
