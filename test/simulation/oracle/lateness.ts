/** How late totals are: from the commit of each write until the publish that has it. */
import type { Micros } from "../model/values.ts";

export class Lateness {
  readonly #unpublished = new Map<string, Micros[]>();
  /** Of each published write, in milliseconds. */
  readonly millis: number[] = [];

  followWrite(counter: string, time: Micros): void {
    const times = this.#unpublished.get(counter) ?? [];
    times.push(time);
    this.#unpublished.set(counter, times);
  }

  published(counter: string, asOf: Micros, time: Micros): void {
    const times = this.#unpublished.get(counter) ?? [];
    for (const written of times) if (written <= asOf) this.millis.push((time - written) / 1_000);
    this.#unpublished.set(
      counter,
      times.filter((written) => written > asOf),
    );
  }

  /** The counter was deleted. */
  forget(counter: string): void {
    this.#unpublished.delete(counter);
  }
}
