/**
 * The drift of a counter that counts documents. A document and its increment are one commit, so they cause no drift. Other
 * writes of the counter do, until a correction offsets them.
 */
import type { Change } from "../model/database.ts";
import { type Micros, microsOf } from "../model/values.ts";
import { ORDERS } from "../scenario/scenario.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

export class DriftCheck {
  readonly #fail: Fail;
  readonly #snapshotLag: Micros;
  /** The number of documents less the counter's sum, after each commit that changed it. */
  readonly #history: { readonly time: Micros; readonly drift: number }[] = [];
  #lastCorrection: Micros = 0;

  constructor(fail: Fail, snapshotLag: Micros) {
    this.#fail = fail;
    this.#snapshotLag = snapshotLag;
  }

  /** An operator got the result of a reconcile. */
  checkReconciliation(
    process: Process,
    result: { drift: number; corrected: boolean; asOf: { toMicros(): Micros } },
  ): void {
    if (this.#snapshotLag > 0) return;
    const drift = this.#driftAt(result.asOf.toMicros());
    if (result.drift !== drift || result.corrected !== (drift !== 0)) {
      this.#fail("I5", `${process.name} got ${JSON.stringify(result)}, but ${ORDERS.counter} had drifted by ${drift}`);
    }
  }

  /** Documents and increments of one commit cause no drift. A correction offsets the drift of one instant, once. */
  onCommit(process: Process, by: number, time: Micros, changes: readonly Change[], mayDrift: boolean): void {
    const before = this.#history.at(-1)?.drift ?? 0;
    if (by !== 0) this.#history.push({ time, drift: before + by });
    const correction = changes.find(({ after }) =>
      after.path.startsWith(`counters/${ORDERS.counter}/tallyCorrections/`),
    );
    if (!correction) {
      if (by !== 0 && !mayDrift) {
        this.#fail("I5", `${process.name} made ${ORDERS.counter} drift by ${by}`);
      }
      return;
    }
    if (this.#snapshotLag > 0) return;
    const asOf = microsOf(correction.after.fields?.asOf);
    const drift = this.#driftAt(asOf);
    if (by !== -drift || asOf <= this.#lastCorrection) {
      const message = `${process.name} corrected ${ORDERS.counter} by ${-by}; as of ${asOf} it had drifted by ${drift}`;
      this.#fail("I5", message);
    }
    this.#lastCorrection = time;
  }

  /** After the last sweep, a counter that is reconciled by schedule has no drift. */
  atEnd(): void {
    const drift = this.#history.at(-1)?.drift ?? 0;
    if (drift !== 0) this.#fail("I5", `${ORDERS.counter} is reconciled by schedule, but its drift is ${drift}`);
  }

  #driftAt(asOf: Micros): number {
    return this.#history.filter(({ time }) => time <= asOf).at(-1)?.drift ?? 0;
  }
}
