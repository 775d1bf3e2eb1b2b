/**
 * The virtual clock. Time passes in ticks of 10 ms; what is due in a tick runs in the order in which it was scheduled. No queue
 * is sorted, so a hundred thousand writes a second are simulated faster than they would happen.
 */
import type { Millis } from "../../functions/src/decisions.ts";

export const TICK: Millis = 10;

export interface Step {
  run(now: Millis): void;
}

export class Clock {
  #tick = 0;
  readonly #scheduled = new Map<number, Step[]>();

  get now(): Millis {
    return this.#tick * TICK;
  }

  /** Runs a step at a time, at the next tick at the earliest. */
  at(time: Millis, step: Step): void {
    const tick = Math.max(Math.ceil(time / TICK), this.#tick + 1);
    const others = this.#scheduled.get(tick);
    if (others) others.push(step);
    else this.#scheduled.set(tick, [step]);
  }

  /** Advances by one tick and runs what is due. */
  advance(): Millis {
    const now = ++this.#tick * TICK;
    const due = this.#scheduled.get(this.#tick) ?? [];
    this.#scheduled.delete(this.#tick);
    for (const step of due) step.run(now);
    return now;
  }
}
