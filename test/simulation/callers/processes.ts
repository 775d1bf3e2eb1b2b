/** The processes of the callers: web clients, servers and operators. Each may die at any time. */

import type { Firestore as RealWebFirestore } from "firebase/firestore";
import type { Firestore as RealAdminFirestore } from "firebase-admin/firestore";
import { Firestore as AdminFirestore } from "../model/adminSdk.ts";
import { Code, type Refused } from "../model/database.ts";
import { Connection, type Network } from "../model/network.ts";
import type { Micros } from "../model/values.ts";
import { Firestore as WebFirestore } from "../model/webSdk.ts";
import { isEnded } from "../oracle/onceIncrements.ts";
import type { Oracle } from "../oracle/oracle.ts";
import type { Action } from "../scenario/scenario.ts";
import { Process } from "../scheduler.ts";

export interface Caller<Firestore = unknown> {
  readonly process: Process;
  readonly firestore: Firestore;
  /** Resolves when all calls with `once` so far have returned. */
  lastCall: Promise<void>;
}

/** An action of one of some kinds. */
type ActionOf<Does extends Action["does"], One = Action> = One extends Action
  ? Does extends One["does"]
    ? One
    : never
  : never;

/** What callers do for each of some kinds of actions. */
export type Handlers<Does extends Action["does"]> = { readonly [One in Does]: (action: ActionOf<One>) => void };

/** One call of so many has a signal, by the millisecond in which it is made. */
const CALLS_PER_SIGNAL = 8;
const SIGNAL_AFTER: Micros = 3_000_000;

export class Processes {
  readonly network: Network;
  readonly oracle: Oracle;
  readonly #seed: number;
  readonly #clients = new Map<number, Caller<RealWebFirestore>>();
  readonly #servers = new Map<number, Caller<RealAdminFirestore>>();
  /** Operators whose call has not returned. */
  readonly #waiting = new Set<Process>();
  /** How many processes of each name were started. */
  readonly #started = new Map<string, number>();

  constructor(network: Network, oracle: Oracle, seed: number) {
    this.network = network;
    this.oracle = oracle;
    this.#seed = seed;
  }

  client(index: number): Caller<RealWebFirestore> {
    let client = this.#clients.get(index);
    if (!client) {
      client = this.startClient(`client ${index}`);
      this.#clients.set(index, client);
    }
    return client;
  }

  startClient(name: string): Caller<RealWebFirestore> {
    const process = this.start(name);
    const firestore = new WebFirestore(new Connection(this.network, process)) as unknown as RealWebFirestore;
    return { process, firestore, lastCall: Promise.resolve() };
  }

  server(index: number): Caller<RealAdminFirestore> {
    const server = this.#servers.get(index) ?? this.startServer(`server ${index}`);
    this.#servers.set(index, server);
    return server;
  }

  /** A server that makes one call. */
  startServer(name: string): Caller<RealAdminFirestore> {
    const process = this.start(name);
    const firestore = new AdminFirestore(new Connection(this.network, process)) as unknown as RealAdminFirestore;
    return { process, firestore, lastCall: Promise.resolve() };
  }

  /** A signal for about one call of eight, aborted after three seconds; `undefined` for the others. */
  signal(): AbortSignal | undefined {
    const { scheduler } = this.network;
    if (Math.floor(scheduler.now / 1_000) % CALLS_PER_SIGNAL !== 0) return undefined;
    const controller = new AbortController();
    scheduler.after(SIGNAL_AFTER, () => controller.abort());
    return controller.signal;
  }

  start(name: string): Process {
    const times = this.#started.get(name) ?? 0;
    this.#started.set(name, times + 1);
    return new Process(`${name}${"′".repeat(times)}`, this.#seed);
  }

  /** Ends a process. The next caller with this number is a new process. */
  kill(kind: "client" | "server", index: number): void {
    const callers: Map<number, Caller> = kind === "client" ? this.#clients : this.#servers;
    const process = callers.get(index)?.process;
    if (!process) return;
    this.network.log(process, () => "dies");
    process.isDead = true;
    callers.delete(index);
  }

  /** An operator waits for the result of a call. */
  operate<T>(process: Process, call: Promise<T>, done: (result: T) => void = () => {}): Promise<void> {
    this.#waiting.add(process);
    return call
      .then(done, (error) => {
        // After three timeouts in a row, a reconcile reports that its source is too large.
        if (error.code !== "counter/source-too-large" && !process.isDead && !isEnded(error))
          this.oracle.fail("completion", `${process.name} gives up: ${error}`);
      })
      .finally(() => this.#waiting.delete(process));
  }

  /** An operator retries an idempotent call after each transient failure. */
  async retry(process: Process, call: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!isTransient(error as Refused)) throw error;
        await this.network.scheduler.sleep(1_000_000, process);
      }
    }
  }

  /** Every call of a live operator has returned. */
  atEnd(): void {
    for (const process of this.#waiting) {
      if (!process.isDead) this.oracle.fail("completion", `the call of ${process.name} has not returned`);
    }
  }
}

/** Whether the connection failed and not the call. */
function isTransient({ code }: Refused): boolean {
  return code === Code.DEADLINE_EXCEEDED || code === Code.UNAVAILABLE || code === Code.ABORTED;
}
