/**
 * Connections of processes to the database, with latency and faults. A call may be lost, its answer may be lost, it may be
 * sent twice, aborted, or arrive after its caller has timed out or crashed.
 */
import type { Faults } from "../faults.ts";
import type { Process, Scheduler } from "../scheduler.ts";
import { type Change, Code, type Database, Refused, type Write } from "./database.ts";
import type { Micros } from "./values.ts";

/** A successful commit that changed documents. */
export interface Commit {
  readonly process: Process;
  readonly time: Micros;
  readonly changes: readonly Change[];
}

/** The parts that all connections share. */
export interface Network {
  readonly scheduler: Scheduler;
  readonly database: Database;
  readonly faults: Faults;
  /** How far a query's snapshot may lag behind its read time. */
  readonly snapshotLag: Micros;
  /** Whether the composite indexes are deployed. Without them, an ordered aggregation that sums is rejected. */
  readonly index: "ready" | "missing";
  /** Whether a commit of the functions fails, whatever it would do. */
  readonly isFailing?: (writes: readonly Write[]) => boolean;
  readonly onCommit: (commit: Commit) => void;
  /** Called with the paths that a commit changed. */
  readonly listeners: Set<(changed: readonly string[]) => void>;
  /** Called with the number of billed document reads. */
  readonly onRead: (process: Process, documents: number) => void;
  /** Called when a read-write transaction that read these documents commits. */
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
  /** The instant whose documents a query with this read time sees. */
  snapshotTime(time: Micros): Micros {
    const { random } = this.process;
    return this.#network.snapshotLag > 0 && random.chance(0.5)
      ? time - random.integer(0, this.#network.snapshotLag)
      : time;
  }
  bill(documents: number): void {
    this.#network.onRead(this.process, documents);
  }
  observeTransaction(paths: readonly string[]): void {
    this.#network.onTransaction(this.process, paths);
  }

  isFailing(writes: readonly Write[]): boolean {
    return this.process.name.startsWith("instance ") && this.#network.isFailing?.(writes) === true;
  }

  /** Commits at the server. @returns the update time of each written document */
  commit(writes: readonly Write[], authorize?: (changes: readonly Change[]) => void): Micros[] {
    const { time, changes, updateTimes } = this.database.commit(writes, this.#network.scheduler.now, authorize);
    if (changes.length > 0) this.#network.onCommit({ process: this.process, time, changes });
    for (const listener of this.#network.listeners) listener(changes.map(({ after }) => after.path));
    return updateTimes;
  }

  /** The web client has its own stream of writes over the network. */
  get network(): Network {
    return this.#network;
  }

  /**
   * Runs a function at the server: a commit, or a call that changes nothing. The call of a dead process never returns, and that of a frozen one begins when it thaws.
   * Rejects with the server's error or a connection error.
   */
  call<T>(what: string, atServer: () => T, kindOfCall: "read" | "commit" = "read"): Promise<T> {
    const { scheduler, faults, log } = this.#network;
    const { process } = this;
    if (process.isDead) return new Promise(() => {});
    const { kind, requestDelay, responseDelay, retryDelay } = faults.callOutcome(process);
    const thaw = Math.max(process.frozenUntil - scheduler.now, 0);
    const slowCommit = kindOfCall === "commit" ? faults.commitDelay(scheduler.now) : 0;
    return new Promise<T>((resolve, reject) => {
      const answer = (text: string, settle: () => void) => {
        scheduler.after(
          responseDelay,
          () => {
            log(process, () => `${what} → ${text}`);
            settle();
          },
          process,
        );
      };
      const fail = (code: number) => answer(`error ${code}`, () => reject(new Refused(code, "connection error")));
      // The server handles the call even if its process dies.
      const arrive = () => {
        if (kind === "lost") return fail(Code.UNAVAILABLE);
        if (kind === "arrives late") {
          scheduler.after(retryDelay, arriveUnanswered);
          return fail(Code.DEADLINE_EXCEEDED);
        }
        if (kind === "aborted") return fail(Code.ABORTED);
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
        if (kind === "answer lost") fail(Code.DEADLINE_EXCEEDED);
        else answer(text, settle);
      };
      const arriveUnanswered = () => {
        try {
          atServer();
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
        }
        log(process, () => `${what} at the server, without an answer`);
      };
      scheduler.after(thaw + requestDelay + slowCommit, () => {
        if (kind !== "sent twice") return arrive();
        // The SDK gets no answer and sends the call again. Its caller gets the second answer.
        arriveUnanswered();
        scheduler.after(retryDelay, arrive);
      });
    });
  }
}
