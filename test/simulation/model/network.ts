/**
 * Between a process and the database: latency, and what goes wrong on the way. A call may be lost, its answer may be
 * lost, it may be sent twice, aborted, or arrive when nobody thinks of it any more. Its caller may have crashed meanwhile.
 */
import type { Faults } from "../faults.ts";
import type { Process, Scheduler } from "../scheduler.ts";
import { type Change, Code, type Database, Refused, type Write } from "./database.ts";
import type { Micros } from "./values.ts";

/** A commit, as it happened. */
export interface Commit {
  readonly process: Process;
  readonly time: Micros;
  readonly changes: readonly Change[];
}

/** What all connections share. */
export interface Network {
  readonly scheduler: Scheduler;
  readonly database: Database;
  readonly faults: Faults;
  /** By how much a query's snapshot may lag behind its read time. */
  readonly lag: Micros;
  /** Whether the composite indexes are there: without them, an ordered aggregation that sums is refused. */
  readonly index: "ready" | "missing";
  readonly onCommit: (commit: Commit) => void;
  /** Documents read, as billed. */
  readonly onRead: (process: Process, documents: number) => void;
  /** A read-write transaction over these documents. */
  readonly onTransaction: (process: Process, paths: readonly string[]) => void;
  readonly log: (process: Process, text: () => string) => void;
}

export class Connection {
  readonly process: Process;
  readonly #network: Network;

  constructor(network: Network, process: Process) {
    this.#network = network;
    this.process = process;
  }

  get database(): Database {
    return this.#network.database;
  }
  readTime(): Micros {
    return this.database.readTime(this.#network.scheduler.now);
  }
  /** The instant whose documents a query sees, of a read time. */
  seenAt(time: Micros): Micros {
    const { random } = this.process;
    return this.#network.lag > 0 && random.chance(0.5) ? time - random.integer(0, this.#network.lag) : time;
  }
  bill(documents: number): void {
    this.#network.onRead(this.process, documents);
  }
  observeTransaction(paths: readonly string[]): void {
    this.#network.onTransaction(this.process, paths);
  }

  /** Commits at the server. @returns the update time of each written document */
  commit(writes: readonly Write[], authorize?: (changes: readonly Change[]) => void): Micros[] {
    const { time, changes, updateTimes } = this.database.commit(writes, this.#network.scheduler.now, authorize);
    if (changes.length > 0) this.#network.onCommit({ process: this.process, time, changes });
    return updateTimes;
  }

  /** For what has a connection of its own kind: the web client's stream of writes. */
  get network(): Network {
    return this.#network;
  }

  /**
   * Has something done at the server. A process that has died calls nobody any more; one that is frozen, once it has
   * thawed. Rejects with the server's error, or with that of a connection.
   */
  call<T>(what: string, atServer: () => T): Promise<T> {
    const { scheduler, faults, log } = this.#network;
    const { process } = this;
    if (process.isDead) return new Promise(() => {});
    const { fate, there, back, again } = faults.ofCall(process);
    const thaw = Math.max(process.frozenUntil - scheduler.now, 0);
    return new Promise<T>((resolve, reject) => {
      const answer = (text: string, settle: () => void) => {
        scheduler.in(
          back,
          () => {
            log(process, () => `${what} → ${text}`);
            settle();
          },
          process,
        );
      };
      const fail = (code: number) => answer(`error ${code}`, () => reject(new Refused(code, "of the connection")));
      // The server goes on without the process, whatever becomes of it.
      const arrive = () => {
        if (fate === "lost") return fail(Code.UNAVAILABLE);
        if (fate === "lands late") {
          scheduler.in(again, land);
          return fail(Code.DEADLINE_EXCEEDED);
        }
        if (fate === "aborted") return fail(Code.ABORTED);
        let settle: () => void;
        let text = "ok";
        try {
          const result = atServer();
          settle = () => resolve(result);
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          text = error.message;
          settle = () => reject(error);
        }
        log(process, () => `${what} at the server: ${text}`);
        if (fate === "answer lost") fail(Code.DEADLINE_EXCEEDED);
        else answer(text, settle);
      };
      // Of this, nobody hears.
      const land = () => {
        try {
          atServer();
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
        }
        log(process, () => `${what} at the server, unheard`);
      };
      scheduler.in(thaw + there, () => {
        if (fate !== "sent twice") return arrive();
        // The SDK heard nothing and sends it again; what it then hears is all that its caller gets to know.
        land();
        scheduler.in(again, arrive);
      });
    });
  }
}
