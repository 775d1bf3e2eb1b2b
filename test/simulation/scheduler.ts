/**
 * The simulation's clock and its queue of events, ordered by time. Between two events, the code under test runs until it
 * waits for another event. So at each `await` of a call, events of other processes may come first.
 *
 * Events of a crashed process are dropped. Events of a frozen process wait until it thaws.
 */

import { type Random, randomFor } from "../../core/testing/random.ts";
import type { Micros } from "./model/values.ts";

export interface Event {
  readonly at: Micros;
  readonly order: number;
  readonly process: Process | undefined;
  readonly run: () => void;
  isCancelled?: boolean;
}

/** A client, a server or an instance of the functions. It fails as a whole. */
export class Process {
  readonly name: string;
  /** Each process has its own random numbers, so one that ends does not change those of the others. */
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

/** How many waits one turn of Node's loop serves, because a turn costs as much as handling an event. */
const WAITS_PER_TURN = 200;

export class Scheduler {
  now: Micros;
  /** Stops the run: no further event is handled. */
  isStopped = false;
  readonly #queue: Event[] = [];
  #order = 0;
  /** Callbacks that Node's loop has yet to make in this turn. */
  #waitsLeft = 0;
  #endWait: () => void = () => {};

  constructor(start: Micros) {
    this.now = start;
  }

  /** Runs an event after a delay, as part of a process or outside of all. */
  after(delay: Micros, run: () => void, process?: Process): Event {
    const event = { at: this.now + Math.max(Math.round(delay), 0), order: this.#order++, process, run };
    this.#push(event);
    return event;
  }

  sleep(delay: Micros, process?: Process): Promise<void> {
    return new Promise((resolve) => void this.after(delay, resolve, process));
  }

  /** Handles all events up to an instant. */
  async runUntil(end: Micros): Promise<void> {
    for (let next = this.#queue[0]; next && next.at <= end && !this.isStopped; next = this.#queue[0]) {
      this.#pop();
      if (next.isCancelled) continue;
      this.now = Math.max(next.at, this.now);
      const { process } = next;
      if (process?.isDead) continue;
      if (process && process.frozenUntil > this.now) {
        this.#push({ ...next, at: process.frozenUntil });
        continue;
      }
      next.run();
      await this.#settled();
    }
    this.now = Math.max(end, this.now);
  }

  /** Waits for every promise that resolves without a further event: Node resolves them between two callbacks of a turn. */
  #settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#endWait = resolve;
      if (this.#waitsLeft > 0) return;
      this.#waitsLeft = WAITS_PER_TURN;
      for (let i = 0; i < WAITS_PER_TURN; i++) {
        setImmediate(() => {
          this.#waitsLeft--;
          this.#endWait();
        });
      }
    });
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
