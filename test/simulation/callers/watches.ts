/** Watches of web clients, each of one counter that the client increments. */
import { counter as webCounter } from "../../../client/src/web/counter.ts";
import { onCounter } from "../../../client/src/web/watch.ts";
import type { Process } from "../scheduler.ts";
import type { Processes } from "./processes.ts";

export class Watches {
  readonly #processes: Processes;
  readonly #begun = new Map<string, readonly [process: Process, counter: string]>();

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  /**
   * A client makes a call for a counter, which it has watched since the first one.
   *
   * @param outcome  of the call
   */
  follow(
    client: number,
    counter: string,
    by: number,
    once: string | undefined,
    make: () => Promise<void>,
  ): Promise<void> {
    const { process, firestore } = this.#processes.client(client);
    const { network, oracle } = this.#processes;
    const name = `${process.name} ${counter}`;
    if (!this.#begun.has(name)) {
      this.#begun.set(name, [process, counter]);
      oracle.shown.begin(process, counter);
      onCounter(webCounter(firestore, counter), (snapshot) => {
        if (!process.isDead) oracle.shown.shows(process, counter, network.scheduler.now, snapshot);
      });
    }
    const returned = oracle.shown.called(process, counter, by, once);
    const outcome = make();
    outcome.then(
      () => returned(network.scheduler.now),
      () => returned(network.scheduler.now, true),
    );
    return outcome;
  }

  /** Each watch shows what is published. */
  atEnd(): void {
    const { network, oracle } = this.#processes;
    for (const [process, counter] of this.#begun.values()) {
      const published = Number(network.database.get(`counters/${counter}`).fields?.total ?? 0);
      if (!process.isDead) oracle.shown.atEnd(process, counter, published);
    }
  }
}
