/**
 * The virtual clock: time goes by in ticks of 10 ms, and everything that is due within a tick happens in the order in
 * which it was asked for. Coarse, but far below the second in which publishes and acknowledgements are judged; and no
 * queue has to be kept sorted, so that a hundred thousand writes a second are simulated faster than they would happen.
 */
import type { Millis } from "../../functions/src/decisions.ts";

/** One step of virtual time. */
export const TICK: Millis = 10;

/** Something that goes on later; told the time at which it does. */
export interface Step {
  run(now: Millis): void;
}

export class Clock {
  #tick = 0;
  readonly #waiting = new Map<number, Step[]>();

  get now(): Millis {
    return this.#tick * TICK;
  }

  /** Runs a step at a time, not before the next tick. */
  at(time: Millis, step: Step): void {
    const tick = Math.max(Math.ceil(time / TICK), this.#tick + 1);
    const others = this.#waiting.get(tick);
    if (others) others.push(step);
    else this.#waiting.set(tick, [step]);
  }

  /** Goes on by one tick, and runs what is due. */
  advance(): Millis {
    const now = ++this.#tick * TICK;
    const due = this.#waiting.get(this.#tick);
    if (due) {
      this.#waiting.delete(this.#tick);
      for (const step of due) step.run(now);
    }
    return now;
  }
}
