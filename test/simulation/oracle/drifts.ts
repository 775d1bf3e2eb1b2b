/**
 * A counter that stands for documents: each is committed with its increment, so neither is drift; what others add is, until
 * a correction makes up for it.
 */
import type { Change } from "../model/database.ts";
import { type Micros, microsOf } from "../model/values.ts";
import { ORDERS } from "../scenario.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

export class Drifts {
  readonly #fail: Fail;
  readonly #margin: Micros;
  /** After each commit that changed it, by how much the documents are more than the counter's sum. */
  readonly #drifts: { readonly time: Micros; readonly drift: number }[] = [];
  #lastCorrection: Micros = 0;

  constructor(fail: Fail, margin: Micros) {
    this.#fail = fail;
    this.#margin = margin;
  }

  /** An operator was told by how much a counter had drifted, and whether that was corrected. */
  reconciled(process: Process, said: { drift: number; corrected: boolean; asOf: { toMicros(): Micros } }): void {
    if (this.#margin > 0) return;
    const drift = this.#driftAt(said.asOf.toMicros());
    if (said.drift !== drift || said.corrected !== (drift !== 0)) {
      this.#fail("I5", `${process.name} says ${JSON.stringify(said)}, but ${ORDERS.counter} had drifted by ${drift}`);
    }
  }

  /** Documents and increments of one commit are no drift; a correction makes up for the drift of one instant, once. */
  onCommit(process: Process, by: number, time: Micros, changes: readonly Change[], mayDrift: boolean): void {
    const before = this.#drifts.at(-1)?.drift ?? 0;
    if (by !== 0) this.#drifts.push({ time, drift: before + by });
    const correction = changes.find(({ after }) => after.path.startsWith(`counters/${ORDERS.counter}/corrections/`));
    if (!correction) {
      if (by !== 0 && !mayDrift) {
        this.#fail("I5", `${process.name} made ${ORDERS.counter} drift by ${by}`);
      }
      return;
    }
    if (this.#margin > 0) return;
    const asOf = microsOf(correction.after.fields?.asOf);
    const drift = this.#driftAt(asOf);
    if (by !== -drift || asOf <= this.#lastCorrection) {
      this.#fail(
        "I5",
        `${process.name} corrected ${ORDERS.counter} by ${-by}; as of ${asOf} it had drifted by ${drift}`,
      );
    }
    this.#lastCorrection = time;
  }

  /** A counter that is reconciled by schedule has not drifted. */
  atEnd(): void {
    const drift = this.#drifts.at(-1)?.drift ?? 0;
    if (drift !== 0) this.#fail("I5", `${ORDERS.counter} is reconciled by schedule, but has drifted by ${drift}`);
  }

  #driftAt(asOf: Micros): number {
    return this.#drifts.filter(({ time }) => time <= asOf).at(-1)?.drift ?? 0;
  }
}
