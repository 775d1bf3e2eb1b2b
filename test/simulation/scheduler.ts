/**
 * The simulation's clock and its future: what happens next is what is due first. Between two events all that the code
 * under test can do without waiting is done, so each `await` of a call is a point where anybody else may come first.
 *
 * Processes crash and freeze: of one that crashed nothing happens any more, of one that is frozen, nothing until it thaws.
 */

import { type Random, randomFor } from "../../testkit/random.ts";
import type { Micros } from "./model/values.ts";

interface Event {
  readonly at: Micros;
  readonly order: number;
  readonly process: Process | undefined;
  readonly run: () => void;
}

/** A client, a server or an instance of the functions: something that fails as a whole. */
export class Process {
  readonly name: string;
  /** What it draws is its own: other processes' draws do not change if it goes. */
  readonly random: Random;
  /** How far its clock is ahead of the database's. */
  skew: Micros = 0;
  isDead = false;
  frozenUntil: Micros = 0;

  constructor(name: string, seed: number) {
    this.name = name;
    this.random = randomFor(seed, name);
  }
}

export class Scheduler {
  now: Micros;
  /** Nothing happens any more. */
  isOver = false;
  readonly #queue: Event[] = [];
  #order = 0;

  constructor(start: Micros) {
    this.now = start;
  }

  /** Something happens later: to a process, or in the world. */
  in(delay: Micros, run: () => void, process?: Process): void {
    this.#push({ at: this.now + Math.max(Math.round(delay), 0), order: this.#order++, process, run });
  }

  /** A process waits. */
  sleep(delay: Micros, process?: Process): Promise<void> {
    return new Promise((resolve) => this.in(delay, resolve, process));
  }

  /** Runs until nothing is left to happen before an instant, or at all. */
  async runUntil(end: Micros): Promise<void> {
    for (let next = this.#queue[0]; next && next.at <= end && !this.isOver; next = this.#queue[0]) {
      this.#pop();
      this.now = Math.max(next.at, this.now);
      const { process } = next;
      if (process?.isDead) continue;
      if (process && process.frozenUntil > this.now) {
        this.#push({ ...next, at: process.frozenUntil });
        continue;
      }
      next.run();
      await settled();
    }
    this.now = Math.max(end, this.now);
  }

  #push(event: Event): void {
    const queue = this.#queue;
    let i = queue.push(event) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!isBefore(event, queue[parent] as Event)) break;
      queue[i] = queue[parent] as Event;
      i = parent;
    }
    queue[i] = event;
  }

  #pop(): void {
    const queue = this.#queue;
    const last = queue.pop() as Event;
    if (queue.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= queue.length) break;
      if (child + 1 < queue.length && isBefore(queue[child + 1] as Event, queue[child] as Event)) child++;
      if (!isBefore(queue[child] as Event, last)) break;
      queue[i] = queue[child] as Event;
      i = child;
    }
    queue[i] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

/** Every promise that can be resolved without an event is resolved before the next turn of the event loop. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
