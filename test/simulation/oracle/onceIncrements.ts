/** Increments with `once`: after the last call with it has returned, it counts or does not count, as the call reported (I8). */
import type { Micros } from "../model/values.ts";
import type { Process } from "../scheduler.ts";
import type { Fail } from "./violation.ts";

/** What the calls for one `once` of one counter have reported. */
interface OnceState {
  /** What the latest of the calls that have returned reported. */
  counts: boolean;
  /** The number of that call. */
  latestReturned: number;
  callsBegun: number;
  readonly callers: Set<Process>;
  /** Calls that have not returned yet. */
  pending: number;
  wasUndone: boolean;
  /** Whether a signal has ended one of the calls, so that its commit may arrive at any time. */
  wasEnded: boolean;
  /** Whether a signal has ended the latest of the calls that have returned. */
  isUnknown: boolean;
}

/** Whether a signal has ended a call. */
export function isEnded(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { name?: unknown } };
  return code === "counter/unknown-outcome" && cause?.name === "AbortError";
}

export class OnceIncrementCheck {
  readonly #fail: Fail;
  readonly #deletedAt: (counter: string) => Micros;
  /** By counter and `once`, joined by a slash. */
  readonly #states = new Map<string, OnceState>();

  /** @param deletedAt  when a counter was deleted last; 0 if it never was */
  constructor(fail: Fail, deletedAt: (counter: string) => Micros) {
    this.#fail = fail;
    this.#deletedAt = deletedAt;
  }

  /**
   * A process calls with a `once`.
   *
   * @param counts  whether it counts after the call: true for an increment, false for an undo
   * @returns       callbacks for the result of the call
   */
  begin(
    process: Process,
    counter: string,
    once: string,
    counts: boolean,
  ): { readonly done: () => void; readonly failed: (error: unknown) => void } {
    const name = `${counter}/${once}`;
    const state = this.#states.get(name) ?? {
      counts: false,
      latestReturned: 0,
      callsBegun: 0,
      callers: new Set<Process>(),
      pending: 0,
      wasUndone: false,
      wasEnded: false,
      isUnknown: false,
    };
    this.#states.set(name, state);
    state.callers.add(process);
    const number = ++state.callsBegun;
    state.pending++;
    state.wasUndone ||= !counts;
    return {
      done: () => {
        state.pending--;
        if (number < state.latestReturned) return;
        state.counts = counts;
        state.isUnknown = false;
        state.latestReturned = number;
      },
      failed: (error) => {
        // Its timers go on in the simulation.
        if (process.isDead) return;
        state.pending--;
        if (isEnded(error)) {
          state.wasEnded = true;
          state.isUnknown ||= number > state.latestReturned;
          return;
        }
        // Two devices may contradict each other, and then one of them is rejected. So may a user who does not wait.
        if (state.callers.size === 1 && number === state.callsBegun && this.#deletedAt(counter) === 0)
          this.#fail("I8", `${process.name} was rejected for ${name}: ${error}`);
      },
    };
  }

  /**
   * Every call has returned, and those with a single caller are as it was told.
   *
   * @param exists        whether a `once` has an entry
   * @param arrivedLate   whether a call was committed after its caller had given up. Such a call counts a `once` again that
   *                      was undone meanwhile, and nothing in the database could prevent that.
   */
  atEnd(exists: (counter: string, once: string) => boolean, arrivedLate: boolean): void {
    for (const [name, { counts, callers, pending, wasUndone, wasEnded, isUnknown }] of this.#states) {
      const [counter = "", once = ""] = name.split("/");
      // A deletion also removes entries that were reported as counted.
      if (this.#deletedAt(counter) > 0) continue;
      const areAlive = [...callers].every((process) => !process.isDead);
      if (areAlive && pending > 0) this.#fail("completion", `a call for ${name} has not returned`);
      if (isUnknown || (wasUndone && (arrivedLate || wasEnded))) continue;
      if (callers.size === 1 && pending === 0 && exists(counter, once) !== counts) {
        this.#fail("I8", `${once} was reported to ${counts ? "count" : "not count"} in ${counter}`);
      }
    }
  }
}
