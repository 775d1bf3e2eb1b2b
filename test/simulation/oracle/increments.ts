/** Increments, one by one: each is in the sum as often as whoever made it was told. */
import type { Fields } from "../model/values.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

/** What a process was asked to add to a counter, and what has come of it. */
class Ledger {
  landed = 0;
  acknowledged = 0;
  readonly unknown = new Set<{ by: number }>();
}

/** The mark of a client's write. */
interface Mark {
  readonly process: Process;
  readonly counter: string;
  readonly by: number;
  isGone: boolean;
}

export class Increments {
  readonly #fail: Fail;
  readonly #ledgers = new Map<string, Map<Process, Ledger>>();
  readonly #marks = new Map<string, Mark>();
  /** Replays that counted again, or were reported as refused, because their mark had gone: what 32 marks cannot tell. */
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
    this.#ledger(counter, process).landed += by;
  }

  /** A process wrote a shard. A replay that could not be told from an increment is nobody's fault. */
  wrote(before: Fields | undefined, after: Fields | undefined, write: Omit<Mark, "isGone">): void {
    if (!this.#followMarks(before, after, write)) return;
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
      (mark) => mark.process === process && mark.counter === counter && mark.by === by && mark.isGone,
    );
    if (!own) this.#fail("I5", `${process.name} was refused ${by} for ${counter}`);
    else own.isGone = false;
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

  /** @returns whether this is a replay whose mark was overwritten, or folded with its shard, since it was first sent */
  #followMarks(before: Fields | undefined, after: Fields | undefined, write: Omit<Mark, "isGone">): boolean {
    const [old, marks] = [before?.marks ?? {}, after?.marks ?? {}] as [Fields, Fields];
    for (const slot in old) {
      const mark = this.#marks.get(old[slot] as string);
      // A client takes its slots in turn: it does not overwrite its own.
      if (mark && mark.process !== write.process) mark.isGone ||= marks[slot] !== old[slot];
    }
    for (const slot in marks) {
      const nonce = marks[slot] as string;
      if (nonce === old[slot]) continue;
      if (this.#marks.has(nonce)) return true;
      this.#marks.set(nonce, { ...write, isGone: false });
    }
    return false;
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

function subsetSums(amounts: readonly number[]): Set<number> {
  let sums = new Set([0]);
  for (const by of amounts) sums = new Set([...sums, ...[...sums].map((sum) => sum + by)]);
  return sums;
}
